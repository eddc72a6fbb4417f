"""Outside plugins: found by their entry point, and one that is broken does not end the program."""

from __future__ import annotations

import os
import textwrap
from pathlib import Path

import pytest
from cli_cases import LINEAR, orgflowc

from orgflow_ir.pass_manager import PassContext
from orgflow_ir.plugins import Registry, RegistryError

PLUGIN = '''
    from orgflow_ir.contracts import Artifact, Backend, Frontend
    from orgflow_ir.diagnostics import Rule, Severity
    from orgflow_ir.pass_manager import Pass, Stage
    from orgflow_ir.plugins import hookimpl
    from orgflow_ir.target import Legal, TargetSpec


    class Names(Backend):
        name = "names"
        target = TargetSpec("names", {"task": Legal(), "event": Legal(), "flow": Legal()})

        def emit(self, model, ctx):
            names = [n.label for s in model.scopes() for n in s.nodes]
            return (Artifact("names.txt", ", ".join(names) + "\\n"),)


    class TooShort(Rule):
        """
        What it finds
            A process of fewer than ten nodes.
        """

        code = "OF299"
        name = "too-short"
        severity = Severity.WARNING


    class Short(Pass):
        name = "acme-short"
        stage = Stage.ANALYSE
        rules = (TooShort,)

        def run(self, model, ctx):
            ctx.emit(TooShort, "`Order` is short", element=model.processes[0])
            return model


    @hookimpl
    def orgflow_backends():
        return [Names()]


    @hookimpl
    def orgflow_passes():
        return [Short]
'''


def install(folder: Path, name: str, code: str) -> dict[str, str]:
    """Make a distribution with one plugin module importable; the environment that has it."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[orgflow.plugins]\n{name} = {name}_plugin\n")
    (folder / f"{name}_plugin.py").write_text(textwrap.dedent(code))
    return {"PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "order.bpmn"
    path.write_text(LINEAR)
    return path


def test_a_plugin_adds_a_target_and_a_pass(tmp_path: Path, model: Path) -> None:
    env = install(tmp_path / "site", "acme", PLUGIN)
    ran = orgflowc("compile", model, "--target", "names", env=env)
    assert (ran.code, ran.out) == (0, "Order received, Ship order, Order shipped\n")
    assert "warning OF299 [too-short]" in ran.err
    assert "acme-short" in orgflowc("list", "passes", env=env).out
    assert "no rule `OF299`" in orgflowc("explain", "OF299").err


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import nothing_like_this", "ModuleNotFoundError"),
        ("raise SystemError('no')", "SystemError: no"),
        (
            "from orgflow_ir.plugins import hookimpl\n@hookimpl\ndef orgflow_backends():\n"
            "    return ['n9n']\n",
            "TypeError: orgflow_backends gave 'n9n'",
        ),
    ],
)
def test_a_broken_plugin_is_a_warning(tmp_path: Path, model: Path, code: str, said: str) -> None:
    env = install(tmp_path / "site", "acme", code)
    ran = orgflowc("compile", model, "--target", "n8n", env=env)
    assert ran.code == 0
    assert "warning OF001 [broken-plugin]" in ran.err
    assert said in " ".join(ran.err.split())
    assert ran.out == orgflowc("compile", model, "--target", "n8n").out


def test_a_plugin_cannot_take_a_name_that_is_taken(tmp_path: Path, model: Path) -> None:
    env = install(tmp_path / "site", "acme", PLUGIN.replace('"names"', '"n8n"'))
    ran = orgflowc("compile", model, "--target", "n8n", env=env)
    assert ran.code == 2
    assert "`n8n` is registered by both orgflow.backends.n8n and acme" in ran.err


def test_no_outside_plugins_when_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path / "site", "acme", PLUGIN)
    monkeypatch.syspath_prepend(tmp_path / "site")
    assert "names" in Registry().backends
    assert "names" not in Registry(outside=False).backends


def test_two_rules_of_one_code_are_an_error(registry: Registry) -> None:
    twice = Registry(outside=False)
    first = next(iter(registry.passes.values()))
    rule = first.rules[0]
    clash = type("Clash", (first,), {"rules": (type("Other", (rule,), {}),)})
    twice.__dict__["passes"] = {**registry.passes, "clash": clash}
    with pytest.raises(RegistryError, match=f"{rule.code} is the code of two rules"):
        _ = twice.rules


def test_a_broken_plugin_is_reported_by_name() -> None:
    broken = Registry(outside=False)
    broken.broken.append(("acme", "ImportError: no"))
    ctx = PassContext(registry=broken)
    broken.report_broken(ctx)
    assert [(d.code, d.severity.value) for d in ctx.diagnostics] == [("OF001", "warning")]
