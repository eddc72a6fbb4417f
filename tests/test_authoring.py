"""What authors of plugins import and test with."""

from __future__ import annotations

import ast
import subprocess
import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import ClassVar

import pytest

from orgflow_ir import authoring
from orgflow_ir.authoring import (
    Category,
    Model,
    Pass,
    PassContext,
    Rule,
    Severity,
    Stage,
    Task,
    file_names,
)
from orgflow_ir.moved_names import ATTRIBUTES, MODULES
from orgflow_ir.testing import ContractError, check_rule, small_model


class ShoutedLabel(Rule):
    """
    What it finds
        A task in capital letters.
    Why it is wrong
        It is hard to read.
    Example
        `SHIP`
    Instead
        `Ship`
    """

    code = "SHOUT001"
    name = "shouted-label"
    severity = Severity.WARNING
    category = Category.STYLE


@dataclass(frozen=True)
class Shouting(Pass):
    """Reports labels in capital letters."""

    name: ClassVar[str] = "shouting"
    stage: ClassVar[Stage] = Stage.ANALYSE
    rules: ClassVar[tuple[type[Rule], ...]] = (ShoutedLabel,)
    least: int = 6
    """Letters from which on a label counts."""

    def run(self, model: Model, ctx: PassContext) -> Model:
        for scope in model.scopes():
            for node in scope.nodes:
                shouted = node.name.removeprefix("Do ").isupper()
                if isinstance(node, Task) and shouted and len(node.name) >= self.least:
                    ctx.emit(ShoutedLabel, f"`{node.label}` shouts", element=node)
        return model


def test_a_rule_in_five_lines() -> None:
    check_rule(
        Shouting(), ShoutedLabel,
        bad=["s>SHIP SHIP>e", "s>x1 x1>SHIP:Yes x1>Refuse:No SHIP>e Refuse>f"],
        good=["s>Ship Ship>e"],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("bad", "good", "said"),
    [
        (["s>Ship Ship>e"], ["s>Ship Ship>e"], "SHOUT001 not reported: s>Ship"),
        (["s>SHIP SHIP>e"], ["s>SHIP SHIP>e"], "SHOUT001 reported: s>SHIP"),
        (["s>SHIP SHIP>e"], [], "no good models"),
        ([], ["s>Ship Ship>e"], "no bad models"),
    ],
)
def test_a_rule_with_a_fault(bad: list[str], good: list[str], said: str) -> None:
    with pytest.raises(ContractError, match=said):
        check_rule(Shouting(), ShoutedLabel, bad=bad, good=good)


def test_every_name_is_there() -> None:
    for name in authoring.__all__:
        assert getattr(authoring, name) is not None
    assert authoring.__all__ == sorted(authoring.__all__, key=lambda n: (not n.isupper(), n))
    with pytest.raises(AttributeError, match="nothing_like_it"):
        _ = authoring.nothing_like_it  # type: ignore[attr-defined]


def test_names_are_those_that_type_checkers_see() -> None:
    tree = ast.parse(Path(authoring.__file__).read_text("utf-8"))
    seen = [n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)
            and str(n.module).startswith("orgflow_ir.")]  # fmt: skip
    for row in seen:
        for alias in row.names:
            home = import_module(str(row.module))
            assert getattr(authoring, alias.name) is getattr(home, alias.name)
    assert sorted(a.name for row in seen for a in row.names) == sorted(authoring.__all__)


def test_it_loads_what_is_used() -> None:
    script = (
        "import sys, orgflow_ir.authoring; "
        "assert 'orgflow_ir.model' not in sys.modules; "
        "from orgflow_ir.authoring import Task; "
        "assert 'orgflow_ir.flow' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)


def test_no_name_is_loaded_by_an_old_module_name() -> None:
    script = (
        "import warnings; warnings.simplefilter('error'); from orgflow_ir import authoring\n"
        "[getattr(authoring, name) for name in authoring.__all__]"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)


def test_file_names_come_from_labels() -> None:
    labels = ["Order", "order", "注文", "", "Con", "Prüfung: ja/nein?", "../../etc"]
    assert file_names(labels, ".md") == [
        "order.md", "order-2.md", "process.md", "process-2.md", "process-con.md",
        "prufung-ja-nein.md", "etc.md",
    ]  # fmt: skip


def test_small_models_are_what_their_lines_say() -> None:
    model = small_model("s>x1 x1>Ship:Yes?total>5 x1>Refuse:No! Ship>e Refuse>f")
    flows = {f.id: f for f in model.processes[0].flows}
    assert flows["x1_Ship"].name == "Yes"
    assert flows["x1_Refuse"].default


@pytest.mark.parametrize("old", sorted(MODULES))
def test_old_names_of_modules_keep_working_with_a_warning(old: str) -> None:
    """Modules of 0.2 by their old names: the same objects, and a warning that names the new one."""
    new_name = f"orgflow_ir.{MODULES[old]}"
    script = (
        "import importlib, warnings\n"
        "with warnings.catch_warnings(record=True) as issued:\n"
        "    warnings.simplefilter('always')\n"
        f"    old = importlib.import_module('orgflow_ir.{old}')\n"
        f"new = importlib.import_module({new_name!r})\n"
        "public = [n for n in vars(new) if not n.startswith('__')]\n"
        "assert all(getattr(old, n) is getattr(new, n) for n in public)\n"
        f"assert any(str(w.message).startswith('orgflow_ir.{old} is now {new_name};')"
        " for w in issued), issued\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("old", sorted(ATTRIBUTES))
def test_old_names_of_values_keep_working_with_a_warning(old: str) -> None:
    module = import_module(f"orgflow_ir.{old}")
    for name, new_module in ATTRIBUTES[old].items():
        with pytest.warns(DeprecationWarning, match=f"{name} is now") as issued:
            value = getattr(module, name)
        assert value is getattr(import_module(f"orgflow_ir.{new_module}"), name)
        assert str(issued[0].message).startswith(
            f"orgflow_ir.{old}.{name} is now orgflow_ir.{new_module}.{name};"
        )
        assert issued[0].filename == __file__


def test_names_that_no_version_had_are_not_found() -> None:
    with pytest.raises(ModuleNotFoundError):
        import_module("orgflow_ir.analysis.nothing_like_it")
    with pytest.raises(ImportError, match="cannot import name 'nothing_like_it'"):
        exec("from orgflow_ir.targets import nothing_like_it")
