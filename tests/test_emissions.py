"""No command compiles a process twice: what it compiled is handed on to whatever needs it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cli_cases import Ran
from emission_count import COMMANDS, counted, exit_code, prepare
from n8n_stand_in import KEY, StandIn
from orgflow import cli

Invoke = Callable[..., Ran]


@pytest.fixture
def invoke(capfdbinary: pytest.CaptureFixture[bytes]) -> Invoke:
    def run(*args: str | Path) -> Ran:
        code = cli.run([str(a) for a in args])
        found = capfdbinary.readouterr()
        return Ran(code, found.out.decode(), found.err.decode())

    return run


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    made = StandIn()
    monkeypatch.setenv("N8N_API_KEY", KEY)
    yield made
    made.close()


@pytest.fixture
def folder(tmp_path: Path, invoke: Invoke) -> Path:
    prepare(tmp_path, lambda *args: invoke(*args).code)
    return tmp_path


@pytest.mark.parametrize("name", COMMANDS)
def test_no_process_is_compiled_twice(
    name: str, folder: Path, server: StandIn, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    with counted() as emissions:
        done = invoke(*(word.format(url=server.url) for word in COMMANDS[name]))
    assert done.code == exit_code(name), done.err
    assert emissions == {"Order": 1, "Repair": 1}
