"""Fixtures that several test modules share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from shared_data import shared_data

from orgflow_ir.plugins import Registry
from orgflow_ir.testing import artifact_extension

pytest_plugins = ["engine_fixture"]  # the fixture `engine`: n8n's real engine

ROOT = Path(__file__).resolve().parent.parent

os.environ.setdefault("ORGFLOW_VERIFY", "1")  # every pass and lowering is verified in tests

settings.register_profile(
    "orgflow", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("orgflow")


@pytest.fixture(scope="session", autouse=True)
def cache_of_check(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What `check` found in tests stays out of the user's cache folder."""
    os.environ["ORGFLOW_CACHE"] = str(tmp_path_factory.mktemp("check-cache"))


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session", autouse=True)
def schemas_of_workflows() -> Iterator[None]:
    """Every n8n workflow that is emitted in a test keeps to its schemas (OF911 if it does not):
    commands check this under `--verify` only, since it takes longer than the compile."""
    from orgflow.backends.n8n.emit import model_compilation
    from orgflow.backends.n8n.emit.schema_check import check_schemas

    cheap = model_compilation.check_workflow

    def thorough(workflow: Any, **options: Any) -> tuple[Any, ...]:
        plain = {name: value for name, value in options.items() if name != "filled"}
        return (*check_schemas(workflow, **plain), *cheap(workflow, **options))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model_compilation, "check_workflow", thorough)
        yield


@pytest.fixture(scope="session")
def shared() -> Path:
    """The project's data beside the checkout: skipped without it, but failed under CI=true."""
    return shared_data().parent


@pytest.fixture(scope="session")
def registry() -> Registry:
    """The built-in leaves; no outside plugins, whatever is installed."""
    return Registry(outside=False)


@pytest.fixture
def artifacts(snapshot: Any) -> Any:
    """Golden files of what backends emit; `make golden` writes them again."""
    return snapshot.use_extension(artifact_extension())
