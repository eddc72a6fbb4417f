"""People who are asked by mail, Slack or Teams, on a real server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from asked_people import SERVICES, ask_by_mail, ask_by_message, local_services
from editor_browser import browser_context
from fixed_hosts import FixedHosts
from orgflow.backends.n8n.server.client.client import Client
from orgflow.backends.n8n.server.process import N8nServer, Owner


@pytest.fixture(scope="module")
def browser(server: N8nServer, owner: Owner) -> Iterator[Any]:
    with browser_context(server, owner) as context:
        yield context


def test_the_link_in_a_mail_leads_to_the_form_whose_answer_decides(
    client: Client, browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("N8N_API_KEY", client.key)
    monkeypatch.setenv("N8N_URL", client.url)
    ask_by_mail(client, browser, tmp_path)


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FixedHosts]:
    proxy = local_services(tmp_path_factory.mktemp("hosts"))
    yield proxy
    proxy.close()


@pytest.fixture(scope="module")
def calling(services: FixedHosts, owner: Owner) -> Iterator[Client]:
    """A server that reaches the services on this machine."""
    with N8nServer(settings=services.settings) as running, Client(running.url) as connected:
        connected.set_up_owner(owner.email, owner.password)
        yield connected


@pytest.mark.parametrize("by", SERVICES)
def test_the_link_in_a_message_leads_to_the_form_whose_answer_decides(
    calling: Client, services: FixedHosts, browser: Any, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, by: str,
) -> None:  # fmt: skip
    monkeypatch.setenv("N8N_API_KEY", calling.key)
    monkeypatch.setenv("N8N_URL", calling.url)
    ask_by_message(calling, services, browser, tmp_path, by)
