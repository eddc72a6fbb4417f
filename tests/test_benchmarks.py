"""Commands of benchmarks/ that say whether something got worse: they have to notice it."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import code_names
import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

import against  # noqa: E402
import bench  # noqa: E402
import canvas  # noqa: E402
import code_figures  # noqa: E402
import improvements  # noqa: E402
import mutation  # noqa: E402
import output_bytes  # noqa: E402
import structure  # noqa: E402
import suite_times  # noqa: E402
import verdict_changes  # noqa: E402

COUNTED = "==7== \n==7== I   refs:      1,234,567\n==7== \n"


def ratio(value: float, limit: float | None) -> against.Ratio:
    return against.Ratio("check", "instructions", 1.0, value, value, "M", limit)


_IMPORTS = """
import importlib, sys
sys.path[:0] = sys.argv[1:4]
for name in sys.argv[4:]:
    try:
        importlib.import_module(name)
    except ImportError as error:
        print(f"{name}: {error}")
"""


def test_every_benchmark_imports_what_there_is() -> None:
    names = sorted(path.stem for path in (ROOT / "benchmarks").glob("*.py"))
    assert len(names) > 50
    places = [str(ROOT / folder) for folder in ("benchmarks", "tests/support", "tests")]
    done = subprocess.run(
        [sys.executable, "-c", _IMPORTS, *places, *names],
        capture_output=True, text=True, check=True, timeout=120, cwd=ROOT,
    )  # fmt: skip
    missing = [line for line in done.stdout.splitlines() if "rust_bpmn" not in line]
    assert missing == []


def test_pairs_are_measured_in_turn_and_the_first_is_left_out() -> None:
    called: list[str] = []

    def measured(name: str) -> float:
        called.append(name)
        return float(len(called))

    pairs = against.in_turn(lambda: measured("a"), lambda: measured("b"), 3)
    assert "".join(called) == "abbaabba"
    assert pairs == [(4.0, 3.0), (5.0, 6.0), (8.0, 7.0)]


@pytest.mark.parametrize(("seconds", "over"), [(1.05, False), (1.15, True)])
def test_processor_time_of_a_command_has_its_limit_beside_instructions(
    seconds: float, over: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(against, "_counts", lambda: True)
    times = {"there": 1.0, "here": seconds}
    monkeypatch.setattr(against, "processor_time", lambda env, words: times[env["PYTHONPATH"]])
    monkeypatch.setattr(against, "instructions", lambda env, words: 1_000)
    one, other = (against.Checkout({"PYTHONPATH": name}, "") for name in times)
    timed, counted = against._whole_command(
        "check", "check", one, other, ROOT, against.QUICK, against.MOST_COMMAND
    )
    assert (timed.measure, timed.limit, timed.is_over) == ("processor time", 1.1, over)
    assert (counted.measure, counted.limit, counted.is_over) == ("instructions", 1.1, False)


def test_instructions_are_read_from_what_valgrind_says() -> None:
    assert against.counted(COUNTED) == 1_234_567
    with pytest.raises(ValueError, match="counted nothing"):
        against.counted("valgrind: failed")


@pytest.mark.parametrize(
    ("value", "limit", "code"), [(1.11, 1.1, 1), (1.09, 1.1, 0), (1.2, None, 0)]
)
def test_a_ratio_above_its_limit_fails(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    value: float,
    limit: float | None,
    code: int,
) -> None:
    monkeypatch.setattr(bench, "measure_against", lambda *_, **__: [ratio(value, limit)])
    monkeypatch.setattr(sys, "argv", ["bench.py", "--against", str(ROOT)])
    assert bench.main() == code
    assert ("over" in capsys.readouterr().out) == bool(code)


def test_without_valgrind_processor_time_has_the_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(against.shutil, "which", lambda name: None)
    times = {"there": 1.0, "here": 2.0}
    monkeypatch.setattr(against, "processor_time", lambda env, words: times[env["PYTHONPATH"]])
    asked: list[tuple[str, str]] = []

    def output(env: Mapping[str, str], words: list[str]) -> str:
        if words[1] == against._OPTIONS:
            return "version people\n" if env["PYTHONPATH"] == "here" else "version\n"
        if words[1] == against._NODES:  # the second model has become more
            return "9 9" if env["PYTHONPATH"] == "there" else "8 10"
        asked.append((env["PYTHONPATH"], words[3]))
        return str(times[env["PYTHONPATH"]])

    monkeypatch.setattr(against, "output", output)
    there, here = {"PYTHONPATH": "there"}, {"PYTHONPATH": "here"}
    models = [Path("a.bpmn"), Path("b.bpmn")]
    found = against.compare(there, here, models[0], models, against.QUICK)
    assert [r.ratio for r in found] == [2.0] * 5
    assert [r.is_over for r in found] == [True] * 3 + [False] * 2
    assert [r.subject for r in found] == [
        *("compile", "check", "compile in process, 1 models"),
        *("compile, defaults", "compile in process, defaults, 2 models"),
    ]
    # The checkout that has the option does the same work first, then what it does by default.
    assert dict.fromkeys(asked) == dict.fromkeys(
        [("there", ""), ("here", "people=placeholder"), ("here", "")]
    )


def test_processor_time_and_instructions_of_real_commands() -> None:
    env = {"PYTHONPATH": "", "PATH": "/usr/bin:/bin"}
    busy = against.processor_time(env, ["-c", "sum(range(3_000_000))"])
    assert busy > against.processor_time(env, ["-c", "pass"])
    if shutil.which("valgrind") is not None:
        few, many = (against.instructions(env, ["-c", f"sum(range({n}))"]) for n in (1, 1_000_000))
        assert many - few > 1_000_000


def output(*texts: str) -> output_bytes.Output:
    return output_bytes.Output({f"{n}.json": text for n, text in enumerate(texts)}, None, ())


def test_classes_of_differences() -> None:
    refused = output_bytes.Output(None, None, ("OF403",))
    other = output_bytes.Output(None, None, ("OF104",))
    assert output_bytes.difference(refused, other) is None, "nothing is emitted either way"
    assert output_bytes.difference(refused, output("{}")) == "refused (OF403) → compiled"
    assert output_bytes.difference(output("{}"), output("{}")) is None
    assert output_bytes.difference(output("{}"), output("{}", "{}")) == "names or number of files"
    assert output_bytes.text_difference("x 10", "x 20") == {"numbers"}
    assert output_bytes.text_difference("x 10", "y 10") == {"text"}
    assert output_bytes.text_difference("{}", "{ }") == {"formatting or order of keys"}
    old = '{"nodes": [{"id": "a", "notes": "x"}], "connections": {"A": {"main": 1}}}'
    new = '{"nodes": [{"id": "a", "more": 1}], "connections": {"A": {"main": 2}}}'
    assert output_bytes.text_difference(old, new) == {
        "nodes/notes removed", "nodes/more added", "connections/*/main",
    }  # fmt: skip


@pytest.mark.slow
def test_bytes_of_two_checkouts(tmp_path: Path) -> None:
    """One of them writes its flowcharts in another way."""
    other = tmp_path / "other"
    other.mkdir()
    for name in (*bench.FOLDERS, "orgflow_ir"):
        shutil.copytree(ROOT / name, other / name, ignore=shutil.ignore_patterns("__pycache__"))
    for module in ROOT.glob("*.py"):
        shutil.copy(module, other / module.name)
    chart = other / "backends" / "mermaid" / "flowchart.py"
    text = chart.read_text("utf-8")
    assert "flowchart {" in text
    chart.write_text(text.replace("flowchart {", "graph {"), encoding="utf-8")
    model = ROOT / "examples" / "leave-request" / "model.bpmn"
    found = output_bytes.compare(ROOT, other, [model], ["n8n", "mermaid"])
    assert [(item.target, item.difference) for item in found] == [
        ("n8n", None),
        ("mermaid", "text"),
    ]
    said = output_bytes.report(found, every=True)
    assert "all               2        1          1" in said
    assert str(model) in said


PATCH = """\
diff --git a/README.md b/README.md
--- a/README.md
+++ b/README.md
@@ -1,2 +1,3 @@
 {lines[0]}
+more
 {lines[1]}
diff --git a/tests/test_more.py b/tests/test_more.py
new file mode 100644
--- /dev/null
+++ b/tests/test_more.py
@@ -0,0 +1 @@
+one
"""


def test_additions_are_counted_and_have_to_apply(tmp_path: Path) -> None:
    lines = (ROOT / "README.md").read_text("utf-8").splitlines()
    for name, there in (("good", lines), ("stale", ["gone", "gone"])):
        (tmp_path / f"{name}.patch").write_text(PATCH.format(lines=there), encoding="utf-8")
    good, stale = structure.additions(tmp_path)
    assert good == structure.Addition("good", product=1, tests=1, files=1, applies=True)
    assert not stale.applies


def test_the_documentation_has_the_counts() -> None:
    page = structure.PAGE.read_text("utf-8")
    assert structure.with_additions(page, structure.additions()) == page


def test_the_patches_of_additions_apply() -> None:
    """They are the examples that people copy: adapt the patch to what it is about."""
    found = list(structure.additions())
    assert {item.name for item in found} == set(structure.WHAT)
    assert [item.name for item in found if not item.applies] == []


def test_a_kind_of_node_is_added_to_the_union(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "orgflow_ir" / "model", tmp_path / "orgflow_ir" / "model")
    structure.add_node_kind(tmp_path)
    text = (tmp_path / "orgflow_ir" / "model" / "elements.py").read_text("utf-8")
    assert "class Seventh(Element):" in text
    assert "| Opaque | Seventh" in text


FIGURED = """
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from orgflow_ir.other.part import Part

def read(found):
    \"\"\"Not counted: a timer, FEEL and `<`.\"\"\"
    import orgflow_ir.model
    one = found or found and one  # a timer
    for one in [x for x in one if x if not x]:
        one = 1 if isinstance(one, int) else 2
    def inner():
        if one: pass

def compare_feel(sign):
    match sign:
        case "<": return 1
        case _: return 2

def compare_numbers(sign):
    return sign == "=="

class Juel:
    def is_equal(self): ...
    def evaluate(self): return "juel", "start.timer"
"""


def test_figures_of_the_code(tmp_path: Path) -> None:
    """One file that has each figure, in a circle with a file of another room."""
    for room, name, text in (
        ("model", "step", FIGURED),
        ("other", "part", "from orgflow_ir.model.step import read"),
    ):
        folder = tmp_path / "orgflow_ir" / room
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text("", encoding="utf-8")
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    figures = code_figures.measure_code(tmp_path)
    assert {name: value for name, value in figures.items() if value != "0"} == {
        "circles of rooms": "1",
        "rooms in circles": "2",
        "rooms in the largest circle": "2",
        "circles of files": "1",
        "files in circles": "2",
        "files in the largest circle": "2",
        "imports inside functions": "1",
        "module-level functions: names of one word": "33.3%",
        "module-level functions: mean length": "10.3",
        "functions: names of one word": "50.0%",
        "functions: mean length": "8.7",
        "local name one": "3",
        "files that know FEEL's <": "1",
        "files that know timers": "1",
        "isinstance": "1",
    }
    lines = code_figures.count_room_lines(tmp_path)
    assert lines == {"orgflow_ir.model": len(FIGURED.splitlines()), "orgflow_ir.other": 1}


def test_branches_are_those_of_the_function_itself() -> None:
    functions = {f.name: f for f in code_names.list_functions(ast.parse(FIGURED))}
    branches = {name: code_figures.count_branches(f) for name, f in functions.items()}
    assert branches["read"] == 2 + 1 + 2 + 1  # operands, a loop, a comprehension, if-else
    assert branches["inner"] == 1
    assert branches["compare_feel"] == 2
    assert branches["compare_numbers"] == 0


def workflow(**more: Any) -> dict[str, Any]:
    """A workflow of a step and a decision; `more` is what the step has besides."""
    step = {"name": "Check", "type": "noOp", "position": [0, 0], "parameters": {}, **more}
    decision = {
        "name": "Ok?", "type": "n8n-nodes-base.if", "typeVersion": 2, "position": [1, 0],
        "parameters": {"value": "$('Check').last(0).json.ok"},
    }  # fmt: skip
    end = {"name": "End", "type": "noOp", "position": [2, 0], "parameters": {}}
    wires = {"Check": wire("Ok?"), "Ok?": wire("End")}
    return {"nodes": [step, decision, end], "connections": wires}


def wire(to: str) -> dict[str, Any]:
    return {"main": [[{"node": to, "type": "main", "index": 0}]]}


def attributed(old: Any, new: Any) -> tuple[tuple[str, ...], bool]:
    return improvements.attribute({"a": json.dumps(old)}, {"a": json.dumps(new)})


def test_named_differences_are_taken_out() -> None:
    old = workflow(notes="Do it.\n\norgflow: check")
    new = workflow(
        notes="Do it, please.\n\norgflow: check", executeOnce=True, alwaysOutputData=True
    )
    new["nodes"][0]["position"] = [5, 5]
    new["nodes"][1]["parameters"] = {"value": "$('Check').first(0).json.ok"}
    assert attributed(old, new) == (
        (
            "steps run once and always hand on an item", "decisions read the first item",
            "notes say what to set", "layout",
        ), True,
    )  # fmt: skip
    helper = {
        "name": "Check data", "type": "set", "notes": "x\n\norgflow: check (data)",
        "position": [0, 1], "parameters": {},
    }  # fmt: skip
    variables = workflow(notes=old["nodes"][0]["notes"])
    variables["nodes"].append(helper)
    variables["nodes"][1].update(type="n8n-nodes-base.switch", parameters={"rules": {"values": []}})
    variables["connections"].update({"Check": wire("Check data"), "Check data": wire("Ok?")})
    assert attributed(old, variables) == (("variables are set, kept and read",), True)


def test_what_has_no_name_stays() -> None:
    old = workflow(notes="Do it.\n\norgflow: check", retryOnFail=False)
    other_element = workflow(notes="Do it.\n\norgflow: pack", retryOnFail=False)
    assert attributed(old, other_element) == ((), False)
    flag = workflow(notes=old["nodes"][0]["notes"], retryOnFail=True, executeOnce=True)
    assert attributed(old, flag) == (("steps run once and always hand on an item",), False)
    elsewhere = json.loads(
        json.dumps(old).replace('"End", "type": "main"', '"Check", "type": "main"')
    )
    assert attributed(old, elsewhere) == ((), False)
    assert improvements.attribute({"a": "{}"}, {"a": "{ }"}) == ((), False)
    assert improvements.attribute({"a": "{}"}, {"b": "{}"}) == ((), False)
    assert improvements.attribute({"a": "x 1"}, {"a": "x 2"}) == (("layout",), True)
    assert improvements.attribute({"a": "x 1"}, {"a": "y 1"}) == ((), False)


def test_the_table_counts_what_no_improvement_explains() -> None:
    Compared = output_bytes.Compared
    found = [
        Compared("m", "n8n", None),
        Compared("n", "n8n", "nodes", ("layout",), True),
        Compared("o", "n8n", "names", (), False),
    ]
    lines = output_bytes.named_report(found, every=True).splitlines()
    assert [line.split() for line in lines] == [
        ["improvement", "n8n"], ["layout", "1"], ["not", "explained", "1"], ["different", "2"],
        ["outputs", "3"], ["n8n", "o"], ["names"],
    ]  # fmt: skip


def test_the_minutes_of_the_suites_are_those_of_the_reports(tmp_path: Path) -> None:
    report = """<testsuites><testsuite tests="3" failures="1" errors="1" skipped="0" time="90.0">
      <testcase classname="tests.test_a" name="one" time="1.5" />
      <testcase classname="tests.test_a" name="two" time="2.5"><failure /></testcase>
      <testcase classname="tests.sub.test_b" name="three[x]" time="3.0" />
    </testsuite></testsuites>"""
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "tests.xml").write_text(report)
    lines = suite_times.suites_table([tmp_path], 2).splitlines()
    assert lines[1].split()[-4:] == ["3", "2", "0", "1.5"]
    assert "no build/tests-live.xml: run `make test-live` there first" in lines[2]
    assert [line.split() for line in lines[5:7] + lines[9:]] == [
        ["4.0", "tests/test_a.py"], ["3.0", "tests/sub/test_b.py"],
        ["3.0", "tests/sub/test_b.py::three[x]"], ["2.5", "tests/test_a.py::two"],
    ]  # fmt: skip


def test_the_makefile_writes_the_reports_that_are_read() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for report in suite_times.REPORTS.values():
        assert f"--junitxml={report} $(PYTEST_ARGS)" in makefile


def test_each_mutant_is_one_change_that_can_be_parsed(tmp_path: Path) -> None:
    path = tmp_path / "code.py"
    path.write_text("x = a < b and c is not d\nif not (\n    a\n    or b\n):\n    x = 0\n")
    source = path.read_text()
    made = [source[: m.start] + m.text + source[m.end :] for m in mutation.mutants(path)]
    assert len(set(made)) == len(made) == 5
    for text in made:
        compile(text, "mutant", "exec")
    assert source.replace("x = 0", "x = 1") in made
    assert source.replace("<", "<=") in made
    assert source.replace("is not", "is") in made
    assert source.replace("a < b and c is not d", "a < b") in made


def test_a_verdict_that_differs_has_a_reason_or_is_unexplained() -> None:
    path = Path("m.bpmn")
    there = {"check": [["OF203", "b"]], "warned": [], "compiles": True, "verify": {"p": "proved"}}
    here = {"check": [["OF131", "f"]], "warned": [], "compiles": True, "verify": {"p": "different"}}
    found = list(verdict_changes.changes(path, there, here))
    assert [(c.command, c.code, c.there, c.here) for c in found] == [
        ("check", "OF131", "0", "1"), ("check", "OF203", "1", "0"),
        ("verify", "p", "proved", "different"),
    ]  # fmt: skip
    reasons = [verdict_changes.reason(change, there, here) for change in found]
    assert reasons[0] == reasons[1] is not None
    assert reasons[2] is None


# -- stop nodes that decisions share ---------------------------------------------------------------


def test_a_shared_stop_takes_the_connections_of_the_others() -> None:
    def node(name: str, note: str, x: int, y: int) -> dict[str, Any]:
        kind = "stopAndError" if "(stop)" in note else "noOp"
        return {
            "name": name, "type": f"n8n-nodes-base.{kind}", "typeVersion": 1, "parameters": {},
            "position": [x, y], "notes": note,
        }  # fmt: skip

    workflow = {
        "nodes": [
            node("A?", "orgflow: a", 0, 0), node("B?", "orgflow: b", 256, 0),
            node("Stop A", "orgflow: a (stop)", 256, 224),
            node("Stop B", "orgflow: b (stop)", 512, 224),
        ],
        "connections": {
            "A?": {"main": [[{"node": "Stop A", "type": "main", "index": 0},
                             {"node": "B?", "type": "main", "index": 0}]]},
            "B?": {"main": [[{"node": "Stop B", "type": "main", "index": 0}]]},
        },
    }  # fmt: skip
    assert canvas.stops_of(workflow) == ["Stop A", "Stop B"]
    shared = canvas.sharing(workflow, "Stop B", "Stop A")
    assert [n["name"] for n in shared["nodes"]] == ["A?", "B?", "Stop B"]
    assert shared["connections"]["A?"]["main"][0][0]["node"] == "Stop B"
    each, one = canvas.measure(workflow), canvas.measure(shared)
    assert (each.stops, one.stops, each.wires) == (2, 1, one.wires)
    assert not canvas.reads_as_well(one._replace(crossings=each.crossings + 1), each)


@pytest.mark.slow
def test_the_documentation_has_the_figures_of_shared_stops(shared: Path) -> None:
    page = (ROOT / "docs" / "n8n.md").read_text("utf-8")
    assert canvas.HEAD in page
    models = sorted((shared / "data" / "pmo" / "bpmn").rglob("*.bpmn"))
    assert canvas.compare_stops(models).row("pmo/bpmn") in page
