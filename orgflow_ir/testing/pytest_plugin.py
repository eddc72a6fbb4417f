"""The pytest plugin that ships with orgflow: checks and writes golden files of models.

pytest loads it in every project where orgflow is installed, so it imports only pytest until a
golden file is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest

HINT = (
    "if the change is intended, run pytest --orgflow-update and review the difference of the "
    "golden file"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--orgflow-update` and the settings for the models and golden files of a project."""
    group = parser.getgroup("orgflow")
    group.addoption(
        "--orgflow-update", action="store_true", help="rewrite the golden files of models"
    )
    parser.addini(
        "orgflow_models",
        "models to compile and compare, as patterns: models/*.bpmn",
        "linelist",
        [],
    )
    parser.addini(
        "orgflow_golden",
        "golden file of the model {name}; with a trailing /, a folder of several files",
        default="golden/{name}.json",
    )
    parser.addini("orgflow_target", "target, with its options", default="n8n")


def _is_updating(config: pytest.Config) -> bool:
    """syrupy's `--snapshot-update` writes these golden files too, where syrupy is installed."""
    asked = config.getoption("--orgflow-update") or config.getoption("update_snapshots", False)
    return bool(asked)


def _path_under(config: pytest.Config, place: str) -> str:
    """A path from the root of the project; as text, since a `/` at its end says it is a folder."""
    return place if Path(place).is_absolute() else f"{config.rootpath}/{place}"


def _golden_of(config: pytest.Config, model: Path) -> str:
    return _path_under(config, str(config.getini("orgflow_golden")).replace("{name}", model.stem))


def _check_model(config: pytest.Config, model: str, golden: str, **options: Any) -> None:
    __tracebackhide__ = True
    # pytest loads this plugin in every project; the compiler is loaded where a golden file is.
    from orgflow_ir.testing.golden import GoldenMismatch, check_golden

    message = ""
    try:
        check_golden(
            _short_path(model), _short_path(golden), update=_is_updating(config), **options
        )
    except GoldenMismatch as mismatch:
        message = f"{mismatch}\n\n{HINT}"
    except (OSError, ValueError) as error:
        message = str(error)
    if message:
        pytest.fail(message, pytrace=False)


def _short_path(path: str) -> str:
    """As people in this folder would write it."""
    here = f"{Path.cwd()}/"
    return path.removeprefix(here)


@pytest.fixture
def orgflow_golden(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Compile a model and compare with its golden file: `orgflow_golden("models/order.bpmn")`.

    The second argument is the golden file, by default the one that the setting `orgflow_golden`
    names; `target`, `frontend`, `allow_lossy` and `force` have the same meaning as for `orgflowc
    compile`. Paths are from the root of the project.
    """

    def check_model(model: str | Path, golden: str | Path | None = None, **options: Any) -> None:
        __tracebackhide__ = True
        config = request.config
        path = config.rootpath / model
        place = _golden_of(config, path) if golden is None else _path_under(config, str(golden))
        options.setdefault("target", config.getini("orgflow_target"))
        _check_model(config, str(path), place, **options)

    return check_model


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collects the models named by the setting `orgflow_models` as tests of their golden files."""
    patterns = parent.config.getini("orgflow_models")
    if not patterns:
        return None
    try:
        relative = file_path.relative_to(parent.config.rootpath).as_posix()
    except ValueError:
        return None
    if not any(fnmatch(relative, pattern) for pattern in patterns):
        return None
    model_file: pytest.Collector = ModelFile.from_parent(parent, path=file_path)
    return model_file


class ModelFile(pytest.File):
    """A model with one test."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yields the comparison with its golden file."""
        target = self.config.getini("orgflow_target")
        yield GoldenItem.from_parent(self, name=str(target))


class GoldenItem(pytest.Item):
    """The test that a model compiles to its golden file."""

    def runtest(self) -> None:
        """Compile and compare, or write with `--orgflow-update`."""
        place = _golden_of(self.config, self.path)
        _check_model(self.config, str(self.path), place, target=self.name)

    def reportinfo(self) -> tuple[Path, None, str]:
        """The location shown in the report."""
        return self.path, None, f"{self.path.name} → {self.name}"
