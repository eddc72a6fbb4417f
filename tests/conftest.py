"""Fixtures that several test modules share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from orgflow_ir.plugins import Registry
from orgflow_ir.testing import artifact_extension

pytest_plugins = ["engine_fixture"]  # the fixture `engine`: n8n's real engine

ROOT = Path(__file__).resolve().parent.parent

os.environ.setdefault("ORGFLOW_VERIFY", "1")  # every pass and lowering is verified in tests

settings.register_profile(
    "orgflow", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("orgflow")


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The project's data beside the checkout: skipped without it, but failed under CI=true."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        if os.environ.get("CI") == "true":
            pytest.fail("../shared is missing, and CI=true: nothing may be skipped")
        pytest.skip("needs ../shared, the project's data")
    return folder


@pytest.fixture(scope="session")
def registry() -> Registry:
    """The built-in leaves; no outside plugins, whatever is installed."""
    return Registry(outside=False)


@pytest.fixture
def artifacts(snapshot: Any) -> Any:
    """Golden files of what backends emit; `make golden` writes them anew."""
    return snapshot.use_extension(artifact_extension())
