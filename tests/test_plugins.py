"""Outside plugins: found by their entry point, and one that is broken does not end the program."""

from __future__ import annotations

import importlib
import json
import os
import sys
import textwrap
from pathlib import Path
from types import ModuleType
from typing import Any

import pluggy
import pytest
from cli_cases import LINEAR, orgflowc
from orgflow.compilation.reading import load_model
from orgflow.compiler import compile_model

from orgflow_ir.diagnostics import Severity
from orgflow_ir.model.constructs import ConstructUse
from orgflow_ir.model.rewriter import Rewriter
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry, RegistryError, hookimpl, hookspec
from orgflow_ir.plugins.registry import BUILTINS_OF, SUFFIXES
from orgflow_ir.targets import RewritePattern
from orgflow_ir.testing import ContractError, check_lowerings

PLUGIN = '''
    from orgflow_ir.targets.artifact import Artifact, Emitted
    from orgflow_ir.plugins.contracts import Backend, Frontend
    from orgflow_ir.diagnostics import Category, RetiredRule, Rule, Severity
    from orgflow_ir.pipeline import Pass, Stage
    from orgflow_ir.plugins import hookimpl
    from orgflow_ir.targets import Legal, TargetSpec


    class Names(Backend):
        name = "names"
        target = TargetSpec("names", {"task": Legal(), "event": Legal(), "flow": Legal()})

        def emit(self, model, ctx):
            names = [n.label for s in model.scopes() for n in s.nodes]
            return Emitted.whole(model, Artifact("names.txt", ", ".join(names) + "\\n"))


    class TooShort(Rule):
        """
        What it finds
            A process of fewer than ten nodes.
        """

        code = "ACME201"
        name = "too-short"
        severity = Severity.WARNING
        category = Category.FLOW


    class Short(Pass):
        name = "acme-short"
        stage = Stage.ANALYSE
        rules = (TooShort,)
        retired = (RetiredRule("ACME101", "very-short", "ACME201"),)

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


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the plugin be imported again, and be gone after the test."""
    monkeypatch.setitem(sys.modules, "acme_plugin", ModuleType("acme_plugin"))
    del sys.modules["acme_plugin"]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "order.bpmn"
    path.write_text(LINEAR)
    return path


def test_a_plugin_adds_a_target_and_a_pass(tmp_path: Path, model: Path) -> None:
    env = install(tmp_path / "site", "acme", PLUGIN)
    ran = orgflowc("compile", model, "--target", "names", env=env)
    assert (ran.code, ran.out) == (0, "Order received, Ship order, Order shipped\n")
    assert "warning ACME201 [too-short]" in ran.err
    assert "acme-short" in orgflowc("list", "passes", env=env).out
    assert "no rule `ACME201`" in orgflowc("explain", "ACME201").err


@pytest.mark.parametrize("name", ["ACME201", "too-short", "ACME101", "very-short"])
def test_findings_of_a_plugin_can_be_suppressed(tmp_path: Path, model: Path, name: str) -> None:
    env = install(tmp_path / "site", "acme", PLUGIN)
    accepted = f'xmlns:orgflow="urn:orgflow" orgflow:suppress="{name}: it is a sketch"'
    model.write_text(LINEAR.replace("<process ", f"<process {accepted} ", 1))
    ran = orgflowc("check", model, "--format", "json", env=env)
    found = {d["code"]: d for d in json.loads(ran.out)["diagnostics"]}
    assert found["ACME201"]["suppressed"] == "it is a sketch"
    assert found["ACME201"]["category"] == "flow"
    assert "OF005" not in found
    assert "OF006" not in found


def test_a_retired_rule_of_a_plugin_is_explained_by_its_successor(tmp_path: Path) -> None:
    env = install(tmp_path / "site", "acme", PLUGIN)
    new = orgflowc("explain", "ACME201", env=env).out
    for name in ("acme101", "very-short"):
        assert orgflowc("explain", name, env=env).out == (
            "ACME101 very-short is retired; its successor is:\n\n" + new
        )


def test_a_rule_without_a_category_is_left_out(tmp_path: Path) -> None:
    code = PLUGIN.replace("        category = Category.FLOW\n", "")
    ran = orgflowc("explain", "ACME201", env=install(tmp_path / "site", "acme", code))
    assert "no rule `ACME201`" in ran.err
    listed = orgflowc("list", "passes", env=install(tmp_path / "other", "acme", code))
    assert "whose rule `TooShort` has no category" in listed.err


def test_the_version_names_the_plugins(tmp_path: Path) -> None:
    install(tmp_path / "site", "acme", PLUGIN)
    env = install(tmp_path / "site", "broken", "raise RuntimeError('no')")
    ran = orgflowc("--version", env=env)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[1:] == [
        "plugins:",
        "  acme  from acme 1.0",
        "  broken  from broken 1.0  (cannot be used; `orgflowc list backends` gives the reason)",
    ]


HEAD = "from orgflow_ir.plugins import hookimpl\n"
BACKEND = (
    HEAD
    + """
from orgflow_ir.targets.artifact import Artifact, Emitted
from orgflow_ir.plugins.contracts import Backend
from orgflow_ir.targets import Legal, TargetSpec

class Names(Backend):
    name = "names"
    target = TargetSpec("names", {"task": Legal()})

    def emit(self, model, ctx):
        return Emitted.whole(model, Artifact("names.txt", ""))

@hookimpl
def orgflow_backends():
    return [CHANGED]
"""
)
PASS = (
    HEAD
    + """
from orgflow_ir.pipeline import Pass, Stage

class Short(Pass):
    name = "acme-short"
    stage = Stage.ANALYSE
    rules = ()

    def run(self, model, ctx):
        return model

@hookimpl
def orgflow_passes():
    return [CHANGED]
"""
)
LOWERING = (
    HEAD
    + """
from orgflow_ir.targets import AddedLowering, RewritePattern

class Undo(RewritePattern):
    name = "undo"
    consumes = ("activity.compensation",)
    def rewrite(self, use, rewriter, ctx):
        return None

@hookimpl
def orgflow_lowerings():
    return [CHANGED]
"""
)


def hook(body: str, name: str = "orgflow_backends", head: str = HEAD) -> str:
    return f"{head}@hookimpl\ndef {name}():\n    {body}\n"


def own(lowerings: str) -> str:
    """A backend whose target has lowerings of its own."""
    head = LOWERING.partition("@hookimpl")[0]
    body = BACKEND.removeprefix(HEAD).replace("CHANGED", "Names()")
    return head + body.replace("Legal()}", f"Legal()}}, lowerings=({lowerings},)")


BROKEN = {
    "a missing import": ("import nothing_like_this", "ModuleNotFoundError: No module named"),
    "an error": ("raise SystemError('no')", "cannot be used: SystemError: no"),
    "an error of two lines": ("raise ValueError('a\\n\\nb')", "cannot be used: ValueError: a b"),
    "a syntax error": ("def", "cannot be used: SyntaxError"),
    "an exit": ("import sys; sys.exit(3)", "cannot be used: SystemExit: 3"),
    "no hook": ("def orgflow_backends(): return []", "has no function marked with `hookimpl`"),
    "an unknown hook": (hook("return []", "orgflow_backend"), "PluginValidationError"),
    "a hook with arguments": (
        f"{HEAD}@hookimpl\ndef orgflow_passes(ctx): return []", "PluginValidationError"
    ),
    "a hook that raises": (
        hook("return {}['x']"), "orgflow_backends failed with KeyError: 'x'"
    ),
    "a hook that exits": (hook("raise SystemExit"), "orgflow_backends failed with SystemExit"),
    "a hook that gives nothing": (hook("pass"), "orgflow_backends failed with TypeError"),
    "text": (hook("return ['n9n']"), "returned 'n9n', which is not of type `Backend`"),
    "a class for an instance": (BACKEND.replace("CHANGED", "Names"), "the class `Names`; it takes"),
    "another leaf": (
        BACKEND.replace("CHANGED", "Names()").replace("orgflow_backends", "orgflow_frontends"),
        "which is not of type `Frontend`",
    ),
    "an abstract class": (
        BACKEND.replace("CHANGED", "Names()").replace("emit", "omit"),
        "orgflow_backends failed with TypeError: Can't instantiate abstract class",
    ),
    "no name": (
        BACKEND.replace("CHANGED", "Names()").replace('name = "names"', ""),
        "returned `Names` with the name None",
    ),
    "another target": (
        BACKEND.replace("CHANGED", "Names()").replace('TargetSpec("names"', 'TargetSpec("n"'),
        "returned `names`, whose target has the name `n`",
    ),
    "no target": (
        BACKEND.replace("CHANGED", "Names()").replace("target = TargetSpec", "target = dict"),
        "cannot be used",
    ),
    "a target that raises": (
        BACKEND.replace("CHANGED", "Names()").replace(
            'target = TargetSpec("names", {"task": Legal()})', "target = property(lambda s: 1 / 0)"
        ),
        "ZeroDivisionError",
    ),
    "rules that are none": (
        BACKEND.replace("CHANGED", "Names()").replace("name =", "rules = (1,)\n    name ="),
        "whose rule 1 is not a subclass",
    ),
    "a pass, not its class": (PASS.replace("CHANGED", "Short()"), "it takes the class"),
    "a pass without a stage": (
        PASS.replace("CHANGED", "Short").replace("stage = Stage.ANALYSE", ""),
        "a pass without a `stage`",
    ),
    "an abstract pass": (
        PASS.replace("CHANGED", "Short").replace("def run", "def go"), "a pass without run"
    ),
    "a pass that needs arguments": (
        PASS.replace("CHANGED", "Short").replace("rules = ()", "def __init__(self, x): pass"),
        "cannot be constructed without arguments",
    ),
    "a verdict that is none": (
        BACKEND.replace("CHANGED", "Names()").replace("Legal()}", "True}"),
        "returned `names`, whose target has True for `task`: no `Legal`, `LegalIf` or `Illegal`",
    ),
    "a derivation that is none": (
        BACKEND.replace("CHANGED", "Names()").replace("Legal()}", "Legal()}, derivations=(1,)"),
        "whose target has the derivation 1, which is not a function",
    ),
    "a list of lowerings": (
        BACKEND.replace("CHANGED", "Names()").replace("Legal()}", "Legal()}, lowerings=[]"),
        "whose target has `lowerings` that are not a tuple",
    ),
    "a class for an own lowering": (
        own("Undo"), "Undo'>, which is not of type `RewritePattern`"
    ),
    "an own lowering of no constructs": (
        own("Undo()").replace('("activity.compensation",)', '"activity"'),
        "whose target has the lowering `undo`, whose `consumes` is not a tuple of constructs",
    ),
    "an own lowering that loses a list": (
        own("Undo()").replace('name = "undo"', 'name = "undo"; loses = ["a"]'),
        "whose `loses` is ['a'] and no text",
    ),
    "own lowerings of one name": (
        own("Undo(), Undo()"), "whose target has two lowerings with the name `undo`"
    ),
    "a lowering alone": (LOWERING.replace("CHANGED", "Undo()"), "is not of type `AddedLowering`"),
    "a lowering for nothing": (
        LOWERING.replace("CHANGED", "AddedLowering('n9n', Undo())"),
        "a lowering for `n9n`, which is not a target",
    ),
    "a lowering that is there": (
        LOWERING.replace("CHANGED", "AddedLowering('n8n', Undo())").replace("undo", "link-to-flow"),
        "`link-to-flow`, a lowering that `n8n` already has",
    ),
    "a class for a lowering": (
        LOWERING.replace("CHANGED", "AddedLowering('n8n', Undo)"),
        "which is not of type `RewritePattern`",
    ),
    "a taken name": (
        BACKEND.replace("CHANGED", "Names()").replace('"names"', '"n8n"'),
        "returned `n8n`, which orgflow.backends.n8n has already registered",
    ),
}  # fmt: skip
"""Every way in which a plugin is broken, with its code and what is said."""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What comes out without any plugin."""
    model = tmp_path_factory.mktemp("model") / "order.bpmn"
    model.write_text(LINEAR)
    return orgflowc("compile", model, "--target", "n8n").out


@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_plugin_is_one_warning(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, said = BROKEN[how]
    install(tmp_path / "site", "acme", code)
    monkeypatch.syspath_prepend(tmp_path / "site")
    forget(monkeypatch)
    registry, ctx = Registry(), PassContext()
    for table in ("frontends", "passes", "backends", "agents", "reporters", "lowerings", "rules"):
        found = getattr(registry, table)
        ours = getattr(Registry(outside=False), table)
        assert found.keys() == ours.keys()
    registry.report_broken(ctx)
    assert [(d.code, d.severity.value) for d in ctx.diagnostics] == [("OF001", "warning")]
    message = ctx.diagnostics[0].message
    assert message.startswith("plugin `acme` ")
    assert said in message
    assert "\n" not in message


@pytest.mark.parametrize("how", ["an exit", "a hook that raises", "a taken name"])
def test_the_command_goes_on(how: str, tmp_path: Path, model: Path, compiled: str) -> None:
    env = install(tmp_path / "site", "acme", BROKEN[how][0])
    ran = orgflowc("compile", model, "--target", "n8n", env=env)
    assert (ran.code, ran.out) == (0, compiled)
    assert ran.err.count("warning OF001 [broken-plugin]") == 1
    assert BROKEN[how][1] in " ".join(ran.err.split())


def test_a_broken_plugin_leaves_the_others_alone(tmp_path: Path, model: Path) -> None:
    """One that is refused after it was half registered, and one that comes after it."""
    first = install(tmp_path / "a", "aaa", BROKEN["an unknown hook"][0])
    second = install(tmp_path / "b", "bbb", PLUGIN)
    paths = os.pathsep.join(env["PYTHONPATH"] for env in (first, second))
    ran = orgflowc("compile", model, "--target", "names", env={"PYTHONPATH": paths})
    assert (ran.code, ran.out) == (0, "Order received, Ship order, Order shipped\n")
    assert ran.err.count("OF001") == 1
    assert "plugin `aaa`" in ran.err


def test_of_two_plugins_with_one_name_the_first_is_used(tmp_path: Path, model: Path) -> None:
    env = {}
    for name in ("bbb", "aaa"):
        code = PLUGIN.replace('", ".join', f'"-{name}-".join').replace(
            "acme-short", f"{name}-short"
        )
        env = install(tmp_path / name, name, code.replace("ACME201", f"{name.upper()}299"))
    paths = os.pathsep.join(str(tmp_path / name) for name in ("bbb", "aaa"))
    env = {"PYTHONPATH": os.pathsep.join([paths, env["PYTHONPATH"]])}
    ran = orgflowc("compile", model, "--target", "names", env=env)
    assert "-aaa-" in ran.out
    told = (
        "plugin `bbb` cannot be used: orgflow_backends returned `names`, "
        "which aaa has already registered"
    )
    assert told in " ".join(ran.err.split())
    assert ran.err.count("OF001") == 1


def test_a_code_that_is_taken_is_not_explained_anew(tmp_path: Path) -> None:
    env = install(tmp_path / "site", "acme", PLUGIN.replace("ACME201", "OF201"))
    assert "OF201 deadlocked-join" in orgflowc("explain", "OF201", env=env).out
    ran = orgflowc("list", "rules", env=env)
    told = "plugin `acme` cannot explain too-short: OF201 is the code of two rules"
    assert told in " ".join(ran.err.split())


def test_what_a_plugin_prints_does_not_reach_the_artifact(tmp_path: Path, model: Path) -> None:
    talking = "print('hello')\n" + textwrap.dedent(PLUGIN) + "\nprint('there')\n"
    ran = orgflowc(
        "compile", model, "--target", "names", env=install(tmp_path / "site", "acme", talking)
    )
    assert ran.out == "Order received, Ship order, Order shipped\n"
    assert "hello" in ran.err


def test_a_plugin_that_fails_at_work_is_named(tmp_path: Path, model: Path) -> None:
    code = PLUGIN.replace("names = [n.label", "names = [n.lable")
    ran = orgflowc("compile", model, "--target", "names", env=install(tmp_path / "s", "acme", code))
    assert (ran.code, ran.out) == (2, "")
    said = " ".join(ran.err.split())
    assert "error OF903 [faulty-leaf] backend `names` of plugin `acme` failed with Attri" in said
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    ("method", "command", "kind"),
    [
        ("engines", ("run", "order.bpmn"), "EngineProvider"),
        ("deployer", ("deploy", "order.bpmn", "--url", "http://127.0.0.1:9"), "Deployer"),
        ("executions", ("run", "order.bpmn", "--executions", "1"), "ExecutionReader"),
        ("verify", ("verify", "order.bpmn", "order.bpmn"), "tuple"),
    ],
)
def test_a_backend_that_gives_something_else_is_named(
    method: str, command: tuple[str, ...], kind: str, tmp_path: Path, model: Path
) -> None:
    wrong = f"    def {method}(self, *_, **__): return 'x'\n\n        def emit(self"
    code = PLUGIN.replace("    def emit(self", wrong)
    args = [str(model) if arg == "order.bpmn" else arg for arg in command]
    ran = orgflowc(*args, "--target", "names", env=install(tmp_path / "s", "acme", code))
    assert ran.code == 2
    said = " ".join(ran.err.split())
    assert "the plugin `acme` failed" in said, said
    assert f"`{method}` of backend `names` returned 'x', which is not of type `{kind}`" in said


ADDED = """
from orgflow_ir.model import Task
from orgflow_ir.plugins import hookimpl
from orgflow_ir.targets import AddedLowering, RewritePattern

class Ring(RewritePattern):
    name = "acme-ring"
    consumes = ("event.throw.signal",)
    produces = ("task.send",)
    loses = "that other processes hear the signal"

    def rewrite(self, use, rewriter, ctx):
        node = use.element
        task = Task(id=node.id, name=node.name, task_type="send")
        rewriter.replace(use.scope.id, node.id, task)
        return f"the signal `{node.label}` became a task"

@hookimpl
def orgflow_lowerings():
    return [AddedLowering("asl", Ring())]
"""
SIGNAL = LINEAR.replace(
    '<task id="ship" name="Ship order" />',
    '<intermediateThrowEvent id="ship" name="Ring"><signalEventDefinition signalRef="bell" />'
    "</intermediateThrowEvent>",
).replace("<process ", '<signal id="bell" name="Bell" />\n  <process ')


def test_a_plugin_adds_a_lowering_to_a_target(tmp_path: Path) -> None:
    model = tmp_path / "order.bpmn"
    model.write_text(SIGNAL)
    without = orgflowc("compile", model, "--target", "asl")
    assert without.code == 1
    assert "OF403" in without.err
    env = install(tmp_path / "site", "acme", ADDED)
    asked = orgflowc("compile", model, "--target", "asl", env=env)
    assert asked.code == 1
    assert "OF402" in asked.err
    assert "other processes hear the signal would be lost" in " ".join(asked.err.split())
    ran = orgflowc("compile", model, "--target", "asl", "--allow-lossy", env=env)
    assert ran.code == 0, ran.err
    assert '"Ring"' in ran.out
    assert "the signal `Ring` became a task; lost: that other" in " ".join(ran.err.split())
    matrix = orgflowc("list", "constructs", "--matrix", env=env).out
    (row,) = [line for line in matrix.splitlines() if line.startswith("event.throw.signal ")]
    assert "Degraded" in row


def test_lowerings_of_one_plugin_are_tried(tmp_path: Path) -> None:
    space: dict[str, type[RewritePattern]] = {}
    exec(ADDED, space)
    ring = space["Ring"]
    check_lowerings([ring()])

    def cut(self: Any, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str | None:
        assert use.scope is not None
        for flow in use.scope.flows:
            if flow.target == "end":
                rewriter.remove(use.scope.id, flow.id)
        return ring.rewrite(self, use, rewriter, ctx)

    def relabel(self: Any, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str:
        assert use.scope is not None
        rewriter.relabel(use.scope.id, use.element.id, "Rung")
        return "it rings"

    def silent(self: Any, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> None:
        ring.rewrite(self, use, rewriter, ctx)

    for change, said in (
        ({"loses": None, "rewrite": cut}, "claims to lose nothing, but the runs"),
        ({"rewrite": relabel}, r"as much remains to rewrite as before \(1, then 1\)"),
        ({"rewrite": silent}, "rewrote something without returning a note"),
        (
            {"rewrite": lambda self, use, rewriter, ctx: "done"},
            "returned a note but changed nothing",
        ),
        ({"produces": ()}, "produces task.send, which is not in its `produces`"),
        ({"consumes": "event"}, "not a tuple of constructs"),
        ({"name": "Acme Ring"}, "not words joined by hyphens"),
        ({"rewrite": lambda self, use, rewriter, ctx: 1 / 0}, "raised ZeroDivisionError"),
        ({"rewrite": lambda self, use, rewriter, ctx: sys.exit(3)}, "raised SystemExit: 3"),
    ):
        with pytest.raises(ContractError, match=said):
            check_lowerings([type("Other", (ring,), change)()])


def test_functions_are_marked_as_pluggy_marks_them() -> None:
    def ours() -> tuple[()]:
        return ()

    def pluggys() -> tuple[()]:
        return ()

    for mark, same in (
        (hookimpl, pluggy.HookimplMarker("orgflow")),
        (hookspec, pluggy.HookspecMarker("orgflow")),
    ):
        assert mark(ours) is ours
        assert vars(ours) == vars(same(pluggys))
    assert vars(hookimpl(trylast=True)(ours)) == vars(
        pluggy.HookimplMarker("orgflow")(trylast=True)(pluggys)
    )


def test_frontends_are_found_by_suffix_without_importing_the_others(registry: Registry) -> None:
    suffixes = {
        module: tuple(s for f in frontends for s in f.suffixes)
        for module in BUILTINS_OF["orgflow_frontends"]
        if (frontends := importlib.import_module(module).orgflow_frontends())
    }
    assert suffixes == SUFFIXES
    every = {suffix for f in registry.frontends.values() for suffix in f.suffixes}
    assert len(every) > 10
    for suffix in (*every, ".unknown"):
        fresh = Registry(outside=False)
        found = [f.name for f in fresh.frontends_for(suffix).values() if suffix in f.suffixes]
        assert found == [f.name for f in registry.frontends.values() if suffix in f.suffixes]
        assert "frontends" not in vars(fresh)


def test_no_outside_plugins_when_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path / "site", "acme", PLUGIN)
    monkeypatch.syspath_prepend(tmp_path / "site")
    forget(monkeypatch)
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


# -- plugins that fail at work -----------------------------------------------------------------

FRONTEND = (
    HEAD
    + """
from orgflow_ir.plugins.contracts import Frontend
import sys

class Acme(Frontend):
    name = "acme"
    suffixes = (".bpmn", ".acme")

    def parse(self, source, ctx):
        PARSE

    def sniff(self, source):
        SNIFF

@hookimpl
def orgflow_frontends():
    return [Acme()]
"""
)


def frontend(parse: str = "return 5", sniff: str = "return True") -> str:
    return FRONTEND.replace("PARSE", parse).replace("SNIFF", sniff)


def emitting(result: str) -> str:
    names = BACKEND.replace("CHANGED", "Names()").replace(
        '{"task": Legal()}', '{"task": Legal(), "event": Legal(), "flow": Legal()}'
    )
    return names.replace(
        'return Emitted.whole(model, Artifact("names.txt", ""))',
        result.replace("files(", "Emitted.whole(model, "),
    )


EMITTED = {
    "import sys; sys.exit(0)": "failed with SystemExit: 0",
    "return None": "returned None, which is not an `Emitted`",
    "return Emitted((), None)": "returned the source map None, which is not a `SourceMap`",
    "return 'text'": "returned 'text', which is not an `Emitted`",
    "return files(1)": "returned 1, which is not an `Artifact`",
    "return files()": "returned no file and gave no reason",
    "return files(Artifact('a', 5))": "whose path and text are not both text",
    "return files(Artifact('a', 'x\\n\\ud800'))": "cannot be written as UTF-8: surrogates",
    "return files(Artifact('../../evil.txt', ''))": "which is not inside the output folder",
    "return files(Artifact('/evil.txt', ''))": "which is not inside the output folder",
    "return files(Artifact('..\\\\evil.txt', ''))": "which is not inside the output folder",
    "return files(Artifact('', ''))": "which is not inside the output folder",
    "return files(Artifact('a', ''), Artifact('A', ''))": "returned two files with the path `a`",
}


@pytest.mark.parametrize("result", EMITTED)
def test_a_backend_that_gives_no_files(
    result: str, tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path / "site", "acme", emitting(result))
    monkeypatch.syspath_prepend(tmp_path / "site")
    forget(monkeypatch)
    registry = Registry()
    ctx = PassContext(registry=registry)
    found = load_model(str(model), registry, ctx)
    assert found is not None
    assert compile_model(found, registry.backends["names"], ctx) is None
    (error,) = (d for d in ctx.diagnostics if d.severity is Severity.ERROR)
    assert error.code == "OF903"
    assert error.message.startswith("backend `names` of plugin `acme` ")
    assert EMITTED[result] in error.message


@pytest.mark.parametrize("result", ["import sys; sys.exit(0)", "return None"])
def test_a_backend_that_fails_ends_the_command_with_2(
    result: str, tmp_path: Path, model: Path
) -> None:
    env = install(tmp_path / "site", "acme", emitting(result))
    ran = orgflowc("compile", model, "--target", "names", "-o", tmp_path / "out" / "", env=env)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.count("OF903") == 1
    assert not (tmp_path / "out").exists()


FAILING_TARGETS = {
    "a lowering that exits": (
        own("Undo()").replace("return None", "raise SystemExit(3)")
        .replace("activity.compensation", "task").replace('{"task": Legal()}', "{}"),
        "lowering `undo` of plugin `acme` for names failed at `",
    ),
    "a test that exits": (
        'import sys\n' + BACKEND.replace("CHANGED", "Names()")
        .replace('"task": Legal()', '"task": LegalIf(lambda *_: sys.exit(3), "x")')
        .replace("import Legal,", "import Legal, LegalIf,"),
        "target `names` failed with SystemExit: 3 (ORGFLOW_DEBUG=1 shows where)",
    ),
    "a derivation that raises": (
        BACKEND.replace("CHANGED", "Names()")
        .replace("Legal()}", "Legal()}, derivations=(lambda *_: 1 / 0,)"),
        "target `names` failed with ZeroDivisionError: division by zero",
    ),
}  # fmt: skip


@pytest.mark.parametrize("how", FAILING_TARGETS)
def test_a_target_that_fails_is_one_finding(how: str, tmp_path: Path, model: Path) -> None:
    code, said = FAILING_TARGETS[how]
    env = install(tmp_path / "site", "acme", code)
    ran = orgflowc("compile", model, "--target", "names", env=env)
    assert (ran.code, ran.out) == (2, ""), ran.err
    assert ran.err.count("OF903") == 1
    assert said in " ".join(ran.err.split())


def test_an_interruption_inside_a_plugin_ends_the_command(tmp_path: Path, model: Path) -> None:
    code = emitting("raise KeyboardInterrupt")
    ran = orgflowc(
        "compile", model, "--target", "names", env=install(tmp_path / "site", "acme", code)
    )
    assert (ran.code, ran.out) == (130, "")
    assert "OF903" not in ran.err


def test_a_frontend_that_exits_or_gives_no_model(tmp_path: Path) -> None:
    mine = tmp_path / "order.acme"
    mine.write_text("order")
    for number, (parse, said) in enumerate(
        {
            "sys.exit(0)": "frontend `acme` of plugin `acme` failed with SystemExit: 0",
            "return 1 / 0": "frontend `acme` of plugin `acme` failed with ZeroDivisionError",
            "return 5": "frontend `acme` of plugin `acme` returned 5, which is not a model",
            "return None": "frontend `acme` of plugin `acme` returned no model of",
            "from orgflow_ir.model import Model; return Model(id=5)": "ValidationError: `id`: "
            "Input should be a valid string",
            "from orgflow_ir.model import Model; from orgflow_ir.diagnostics import Related; "
            "from orgflow_ir.diagnostics.core_rules import FaultyLeaf; "
            "ctx.emit(FaultyLeaf, 'x', related=[Related(message=7)]); return Model(id='m')": ""
            "failed with ValidationError: `related.0.message`: Input should be a valid string",
        }.items()
    ):
        env = install(tmp_path / str(number), "acme", frontend(parse))
        ran = orgflowc("check", mine, env=env)
        assert ran.code == 2, ran.out
        assert said in " ".join(ran.out.split())
        assert ran.out.count("OF903") == 1


@pytest.mark.parametrize(
    ("sniff", "said"),
    [
        ("return 1 / 0", "is omitted: `sniff` failed with ZeroDivisionError"),
        ("sys.exit(0)", "is omitted: `sniff` failed with SystemExit: 0"),
        ("return True", ", which `bpmn` reads"),
    ],
)
def test_a_built_in_frontend_goes_before_an_outside_one(
    sniff: str, said: str, tmp_path: Path, model: Path
) -> None:
    env = install(tmp_path / "site", "acme", frontend("return 5", sniff))
    ran = orgflowc("check", model, env=env)
    assert ran.code == 0, ran.out
    assert ran.out.count("OF001") == 1
    assert said in " ".join(ran.out.split())
    chosen = orgflowc("check", "--from", "acme", model, env=env)
    assert chosen.code == 2
    assert "returned 5, which is not a model" in " ".join(chosen.out.split())


def test_a_pass_that_exits_or_gives_no_model(tmp_path: Path, model: Path) -> None:
    for number, (body, said) in enumerate(
        {
            "import sys; sys.exit(0)": "pass `acme-short` failed: SystemExit: 0",
            "return None": "pass `acme-short` returned None, which is not a model",
            "return 5": "pass `acme-short` returned 5, which is not a model",
            "return model.replace(name=5)": "failed: ValidationError: "
            "`name`: Input should be a valid string",
            "return model.replace(processes=(model.processes[0].replace(nodes=(5,)),))": "failed: "
            "ValidationError: `processes.0.nodes.0",
        }.items()
    ):
        code = PASS.replace("CHANGED", "Short").replace("return model", body)
        env = install(tmp_path / str(number), "acme", code)
        ran = orgflowc("check", model, env=env)
        assert ran.code == 2
        assert ran.out.count("OF901") == 1
        assert said in " ".join(ran.out.split())


def test_a_message_that_is_no_text_is_shown_as_text(tmp_path: Path, model: Path) -> None:
    code = PLUGIN.replace('"`Order` is short", element=model.processes[0]', "5, element=6, help=7")
    env = install(tmp_path / "site", "acme", code)
    ran = orgflowc("check", "--format", "json", model, env=env)
    assert ran.code == 0, ran.out
    (found,) = (d for d in json.loads(ran.out)["diagnostics"] if d["code"] == "ACME201")
    assert (found["message"], found["element"], found["help"]) == ("5", "6", "7")


def test_a_missing_target_is_told_beside_what_is_broken(tmp_path: Path, model: Path) -> None:
    env = install(tmp_path / "site", "acme", "raise RuntimeError('out of ink')")
    ran = orgflowc("compile", model, "--target", "pseudo", env=env)
    assert ran.code == 2
    assert "no target `pseudo`" in ran.err
    assert "warning OF001 [broken-plugin]: plugin `acme` cannot be used: RuntimeE" in ran.err
    assert "OF001" not in orgflowc("compile", model, "--target", "pseudo").err
