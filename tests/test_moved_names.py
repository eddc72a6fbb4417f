"""Names that moved out of `orgflow.compiler` still work there, and warn."""

from __future__ import annotations

import warnings
from importlib import import_module

import pytest
from orgflow import compiler
from orgflow.compilation import moved_names

NAMES = {
    old: (f"orgflow.compilation.{module}", new)
    for module, names in moved_names._MOVED.items()
    for old, new in names.items()
} | {old: ("orgflow.compiler", new) for old, new in moved_names._RENAMED.items()}


@pytest.mark.parametrize("name", NAMES)
def test_a_moved_name_works_and_warns(name: str) -> None:
    module, new = NAMES[name]
    assert name not in vars(compiler)
    with pytest.warns(
        DeprecationWarning, match=rf"orgflow\.compiler\.{name} moved: use {module}\.{new}$"
    ):
        moved = getattr(compiler, name)
    assert moved is getattr(import_module(module), new)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'lod'"):
        _ = compiler.lod


def test_names_that_stayed_do_not_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in ("compile_model", "check_model", "check_gaps", "compile_separately"):
            assert callable(getattr(compiler, name))
