"""Faults while deploying, before a stand-in: success after a retry or a clear error, nothing left.

The live suite runs the same scenarios before a real server.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from deploy_faults import SCENARIOS, Site
from n8n_stand_in import KEY, StandIn


@pytest.fixture
def site() -> Iterator[Site]:
    server = StandIn()
    made = Site(server.url, KEY)
    yield made
    made.close()
    server.close()


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_fault(site: Site, scenario: Callable[[Site], None]) -> None:
    scenario(site)
