"""Lazy modules stand for the modules that they name, and import them at the first use."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import timers

if TYPE_CHECKING:
    from orgflow_ir.model import timers as lazy_timers
else:
    lazy_timers = LazyModule("orgflow_ir.model.timers")


def test_attributes_are_those_of_the_module(monkeypatch: pytest.MonkeyPatch) -> None:
    assert lazy_timers.read_time is timers.read_time
    monkeypatch.setattr(timers, "read_time", len)
    assert lazy_timers.read_time is len


def test_what_does_not_exist_is_reported() -> None:
    module: object = LazyModule("orgflow_ir.model.timers")
    for _ in range(2):
        with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
            module.nothing  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(ModuleNotFoundError, match=r"orgflow_ir\.nothing"):
        LazyModule("orgflow_ir.nothing").attribute  # noqa: B018


def test_an_attribute_that_a_module_makes_on_demand() -> None:
    module = LazyModule("orgflow")
    assert module.__version__
    assert module.check is module.check


def test_the_module_is_imported_at_the_first_use() -> None:
    code = (
        "import sys; from orgflow_ir.lazy_modules import LazyModule; m = LazyModule('wave');"
        "assert 'wave' not in sys.modules; m.open; assert 'wave' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
