"""The rules of the specification, one minimal model each: `specification/rules.toml` and beside it
the models. What `check --preset all` finds in each is counted by `benchmarks/lint_bpmn.py`."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from orgflow.compilation.reading import load_model
from orgflow.compiler import check_model
from orgflow.passes.presets import preset_grading

from orgflow_ir.diagnostics import Diagnostic
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

FOLDER = Path(__file__).resolve().parent / "specification"
RULES: list[dict[str, Any]] = tomllib.loads((FOLDER / "rules.toml").read_text("utf-8"))["rule"]
REGISTRY = Registry(outside=False)


def path_of(rule: dict[str, Any]) -> Path:
    return FOLDER / f"{rule['number'].removeprefix('EXT.').lower()}.bpmn"


def found(path: Path) -> list[Diagnostic]:
    ctx = PassContext(registry=REGISTRY, grading=preset_grading("all", REGISTRY.rules))
    model = load_model(str(path), REGISTRY, ctx, diagram=True)
    assert model is not None
    check_model(model, ctx)
    return ctx.diagnostics


def test_every_rule_has_a_model_and_every_model_a_rule() -> None:
    assert len(RULES) == 118
    assert sorted(map(path_of, RULES)) == sorted(FOLDER.glob("*.bpmn"))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["number"])
def test_it_is_found(rule: dict[str, Any]) -> None:
    diagnostics = found(path_of(rule))
    assert set(rule["finds"]) <= {d.code for d in diagnostics}
    for diagnostic in diagnostics:
        if diagnostic.code in rule["finds"]:
            assert diagnostic.loc is not None
            assert diagnostic.loc.line is not None
            assert diagnostic.help
            assert "`" in diagnostic.message, "it names an element"
            assert "BPMN 2.0.2" in " ".join(REGISTRY.rules[diagnostic.code].explanation().split())
    assert rule["finds"] or rule["note"], "a rule that is not looked for says why"
