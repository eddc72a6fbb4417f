"""Mappings, scripts and decisions of models, executed on n8n's own engine.

What each row expects is written down by hand from the definition of the language or engine.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

import pytest
from one_task import HEAD, compiled, one_task, variables
from orgflow.backends.n8n.emit.compiled import CompiledProcess
from orgflow.backends.n8n.engine.local import LocalEngine, RunRequest
from orgflow.backends.n8n.format.identity import tag_of

from orgflow_ir.work.process_variables import Setter


def request(process: CompiledProcess, given: dict[str, Any], **stubs: Any) -> RunRequest:
    return RunRequest(
        process.root.workflow, "Start", items=[{"json": given}], stubs=stubs or None, data=True
    )


def script(language: str, code: str, result: str = "") -> str:
    more = f' camunda:resultVariable="{result}"' if result else ""
    return (
        f'<scriptTask id="t" name="Work" scriptFormat="{language}"{more}>'
        f"<script>{escape(code)}</script></scriptTask>"
    )


UNSET = "“x” was never set, and “Work” reads it. Set it in the input of the run."
SCRIPTS: tuple[tuple[str, str, str, dict[str, Any], dict[str, Any] | str], ...] = (
    # language, code, result variable, variables before, variables after or the error
    ("groovy", "x + 1", "y", {"x": 2}, {"x": 2, "y": 3}),
    ("groovy", "def a = x * 2\ntotal = a + 1", "", {"x": 2}, {"x": 2, "total": 5}),
    ("groovy", "execution.setVariable('n', execution.getVariable('x') + 'b')", "", {"x": "a"},
     {"x": "a", "n": "ab"}),
    ("groovy", "x + 1", "y", {}, UNSET),
    ("groovy", "println('hello ' + x);", "", {}, {}),
    ("groovy", "if (x > 3) { kind = 'big' } else kind = 'small'", "", {"x": 4},
     {"x": 4, "kind": "big"}),
    ("groovy", "if (x > 3) throw new BpmnError('tooBig', 'x is too big')", "", {"x": 4},
     "tooBig: x is too big"),
    ("groovy", "if (x > 3) throw new BpmnError('tooBig')", "", {"x": 1}, {"x": 1}),
    ("javascript", "if (x > 3) throw new org.camunda.bpm.engine.BpmnError('big', 'x: ' + x);", "",
     {"x": 4}, "big: x: 4"),
    ("groovy", "ok = name.equals('a') && !names.isEmpty()", "", {"name": "a", "names": ["b"]},
     {"name": "a", "names": ["b"], "ok": True}),
    ("javascript", "net * 1.5", "gross", {"net": 2}, {"net": 2, "gross": 3}),
    ("javascript", "var a = x > 1 ? 'yes' : 'no'; execution.setVariable('said', a);", "", {"x": 2},
     {"x": 2, "said": "yes"}),
    ("javascript", "y = x; execution.setVariable('z', y)", "", {"x": 1}, {"x": 1, "z": 1}),
    ("javascript", "var n = 1; n += x; execution.setVariable('n', n);", "", {"x": 2},
     {"x": 2, "n": 3}),
    ("http://www.java.com/java", 'int n = x + 1;\nkcontext.setVariable("n", n);', "", {"x": 2},
     {"x": 2, "n": 3}),
    ("http://www.java.com/java", 'System.out.println("on " + x);', "", {}, {}),
    ("http://www.mvel.org/2.0", 'kcontext.setVariable("a", b.equals("c"));', "", {"b": "c"},
     {"b": "c", "a": True}),
    ("juel", "${x > 1 and y == 'a'}", "ok", {"x": 2, "y": "a"}, {"x": 2, "y": "a", "ok": True}),
    ("feel", "sum(xs) + count(xs)", "n", {"xs": [1, 2]}, {"xs": [1, 2], "n": 5}),
    ("groovy", "'}}' + '{{ $json }}' + x", "y", {"x": "</script>"},
     {"x": "</script>", "y": "}}{{ $json }}</script>"}),
    # lists and maps
    ("javascript", "var m = {a: x, 'b c': [1, [x, {d: null}]], x};\nm", "y", {"x": 2},
     {"x": 2, "y": {"a": 2, "b c": [1, [2, {"d": None}]], "x": 2}}),
    ("javascript", "execution.setVariable('l', x > 1 ? [x, 'a',] : []);", "", {"x": 1},
     {"x": 1, "l": []}),
    ("javascript", "var o = {a: {b: x}}; return o.a.b + 1;", "y", {"x": 2}, {"x": 2, "y": 3}),
    ("groovy", "m = [a: x, \"b\": [1, [c: 'd']]]\ne = [:]\nl = []", "", {"x": 2},
     {"x": 2, "m": {"a": 2, "b": [1, {"c": "d"}]}, "e": {}, "l": []}),
    ("mvel", "l = [1, x]; m = ['k' : l];", "", {"x": 2},
     {"x": 2, "l": [1, 2], "m": {"k": [1, 2]}}),
    ("python", "m = {'a': [x]}", "", {"x": 2}, {"x": 2, "m": {"a": [2]}}),
    ("feel", "= {a: x, b: [1, {c: a}]}", "y", {"x": 2},
     {"x": 2, "y": {"a": 2, "b": [1, {"c": 2}]}}),
    # templates; in other quotes, and in Python, they are texts
    ("groovy", "\"No. ${n + 1} of $o.name, \\$5 ${n > 1 ? 'a}' : 'b'}\"", "y",
     {"n": 2, "o": {"name": "Ann"}},
     {"n": 2, "o": {"name": "Ann"}, "y": "No. 3 of Ann, $5 a}"}),
    ("groovy", "\"${a}${b}\" + '${a}'", "y", {"a": 1, "b": 2}, {"a": 1, "b": 2, "y": "12${a}"}),
    ("groovy", "\"it is $a\"", "y", {"a": None}, {"a": None, "y": "it is null"}),
    ("python", "y = \"${a}\"", "", {"a": 1}, {"a": 1, "y": "${a}"}),
    ("javascript", "`${a}${b} = ${a + b}, $a, {`", "y", {"a": 1, "b": 2},
     {"a": 1, "b": 2, "y": "12 = 3, $a, {"}),
    ("javascript", "\"${a}\"", "y", {"a": 1}, {"a": 1, "y": "${a}"}),
    # several statements
    ("javascript", "var a = x, b; b = a * 2; b += 1; b *= 10; b /= 5; a++; a + b", "y", {"x": 2},
     {"x": 2, "y": 13}),
    ("javascript", "var a = x; a++; a--; a++; a", "y", {"x": "5"}, {"x": "5", "y": 6}),
    ("groovy", "def t = 0\nif (x > 1) {\n  t = x\n} else if (x > 0) {\n  t = 1\n}\nt += 1\nt", "y",
     {"x": 1}, {"x": 1, "y": 2}),
    *(("javascript", "if (x > 2) { return 'big'; } var s = x * 2; if (s > 2) return s; return 0;",
       "y", {"x": x}, {"x": x, "y": y}) for x, y in ((3, "big"), (2, 4), (1, 0))),
    *(("javascript", "if (x > 1) { if (x > 2) { return 'a'; } z = 1; } else { z = 2; } return z;",
       "y", {"x": x}, {"x": x, "y": y}) for x, y in ((3, "a"), (2, 1), (1, 2))),
    *(("groovy", "if (x > 1) { 'b' } else if (x > 0) { 'c' }", "y", {"x": x}, {"x": x, "y": y})
      for x, y in ((2, "b"), (1, "c"), (0, None))),
    # parts of values
    ("groovy", "order.total = order.net * 2\norder.by.name = 'Bo'\norder['k'] = 1", "",
     {"order": {"net": 4, "total": 0, "by": {"age": 3}}},
     {"order": {"net": 4, "total": 8, "by": {"age": 3, "name": "Bo"}, "k": 1}}),
    ("groovy", "def a = order.by\norder.by = x\norder.by2 = a\norder.n = 1", "",
     {"order": {"by": {"k": 1}}, "x": 5},
     {"order": {"by": 5, "by2": {"k": 1}, "n": 1}, "x": 5}),
    ("groovy", "order.total += 1", "", {"order": {"total": 2}}, {"order": {"total": 3}}),
    ("javascript", "order.total -= 1;", "", {"order": {"total": 2}}, {"order": {"total": 1}}),
    ("groovy", "order.total = 1", "", {},
     "“order” has no value that can be changed"),
    ("groovy", "order.total = 1", "", {"order": None},
     "“order” has no value that can be changed"),
    ("javascript", "var o = {a: 1}; o.b = x; o.c = {}; o.c.d = 2; execution.setVariable('o', o);",
     "", {"x": 5}, {"x": 5, "o": {"a": 1, "b": 5, "c": {"d": 2}}}),
    ("groovy", "def l = []\nl.add(x)\nl << 'b' + x\nl.add([c: x])\nout = l", "", {"x": 1},
     {"x": 1, "out": [1, "b1", {"c": 1}]}),
    ("javascript", "names.push(who); order.lines.push(1)", "",
     {"names": ["a"], "who": "b", "order": {"lines": [0]}},
     {"names": ["a", "b"], "who": "b", "order": {"lines": [0, 1]}}),
    ("java", "import java.util.*;\nimport java.util.Map;\nMap<String, Object> m = new HashMap<>();"
     "\nm.put(\"a\", x);\nList<String> unused = null;"
     "\nkcontext.setVariable(\"m\", m);", "", {"x": 2}, {"x": 2, "m": {"a": 2}}),
    ("groovy", "import groovy.json.JsonSlurper\n"
     "List<String> l = new java.util.ArrayList<String>()\n"
     "l.add('a')\nl", "y", {}, {"y": ["a"]}),
    # loops over lists
    ("groovy", "total = 0\nfor (line in order.lines) {\n  total += line.price * line.n\n}", "",
     {"order": {"lines": [{"price": 2, "n": 3}, {"price": 1.5, "n": 2}]}},
     {"order": {"lines": [{"price": 2, "n": 3}, {"price": 1.5, "n": 2}]}, "total": 9}),
    ("javascript", "var big = []; for (const i of items) { if (i > 2) { big.push(i * 10); } } big",
     "y", {"items": [1, 3, 5]}, {"items": [1, 3, 5], "y": [30, 50]}),
    ("java", "int n = 0; for (String s : names) { if (s.equals(\"a\")) n++; }\n"
     "kcontext.setVariable(\"n\", n);", "", {"names": ["a", "b", "a"]},
     {"names": ["a", "b", "a"], "n": 2}),
    ("groovy", "def n = 0\nfor (row in rows) for (cell in row) n += cell\nn", "y",
     {"rows": [[1, 2], [3]]}, {"rows": [[1, 2], [3]], "y": 6}),
    ("groovy", "n = 0\nfor (i in a) n += i\nfor (i in b) n += i", "", {"a": [1], "b": [2]},
     {"a": [1], "b": [2], "n": 3}),
    ("groovy", "for (i in [1, 2]) if (i > x) throw new BpmnError('big', 'it is ' + i)", "",
     {"x": 1},
     "big: it is 2"),
    ("groovy", "n = 0\nfor (i in a) n += i", "", {"a": 3}, "no list: 3"),
    ("groovy", "n = 0\nfor (i in a) n += z", "", {"a": []}, {"a": [], "n": 0}),
    ("groovy", "n = 0\nfor (i in x) n += i", "", {}, UNSET),
    # what is there, else something else
    *(("groovy", "x ?: 'none'", "y", {"x": x}, {"x": x, "y": y})
      for x, y in ((None, "none"), ("", "none"), (0, "none"), (False, "none"), ([], "none"),
                   ({}, "none"), ("a", "a"), (2, 2), ([0], [0]), ({"a": 0}, {"a": 0}))),
    ("groovy", "x ?: 'none'", "y", {}, UNSET),
    ("groovy", "(x ?: 1) + (z ?: 2) * 10", "y", {"x": None, "z": 3}, {"x": None, "z": 3, "y": 31}),
    # types that a language does not convert
    ("groovy", "x * 3", "y", {"x": "ab"}, "“x” is not a number."),
    ("groovy", "x * 3", "y", {"x": 2}, {"x": 2, "y": 6}),
    ("groovy", "x + 1", "y", {"x": None}, "“x” is neither a number nor a text."),
    ("groovy", "x + 'b'", "y", {"x": 1}, {"x": 1, "y": "1b"}),
    ("groovy", "x + 'b'", "y", {"x": [1]},
     "“x” is a list, an object, or a number that Java writes with an exponent."),
    ("groovy", "if (x > 3) { y = 1 }", "", {"x": "5"}, "“x” is not a number."),
    ("groovy", "x > z", "y", {"x": 5, "z": "4"},
     "“x” and “z” are neither two numbers nor two texts."),
    ("groovy", "x.total", "y", {"x": None}, "“x” has no value or is not an object."),
    ("groovy", "x.isEmpty()", "y", {"x": 5}, "“x” is neither a text nor a list."),
    ("mvel", "y = x / 2;", "", {"x": "4"}, "“x” is not a number."),
    ("javascript", "x.a.b", "y", {"x": {}}, "“x.a” has no value."),
    ("javascript", "x && x.a ? x.a.b : 0", "y", {"x": None}, {"x": None, "y": 0}),
    ("javascript", "var o = {a: 1}; o.b.c", "y", {}, "“o.b” has no value."),
    ("juel", "${x > 1}", "y", {"x": "a"},
     "“x” is neither a number nor the text of a whole number."),
    ("juel", "${x == 'a'}", "y", {"x": 5}, "“x” is not a text."),
    ("groovy", "a.concat(b).concat('!')", "y", {"a": "x", "b": "z"},
     {"a": "x", "b": "z", "y": "xz!"}),
)  # fmt: skip


def script_rows() -> Iterator[tuple[str, str, dict[str, Any], dict[str, Any] | None]]:
    """The rows of `script_rows.txt`; `None` if the run has to stop."""
    for line in Path(__file__).with_name("script_rows.txt").read_text("utf-8").splitlines():
        if not line.startswith("#"):
            language, code, given, after = line.split("\t")
            stops = after in ("error", "stop")
            yield (
                language,
                json.loads(code),
                json.loads(given),
                None if stops else json.loads(after),
            )


@pytest.mark.slow
def test_scripts_have_the_results_of_real_interpreters(engine: LocalEngine, tmp_path: Path) -> None:
    requests, rows = [], list(script_rows())
    made: dict[tuple[str, str], CompiledProcess] = {}
    for language, code, given, _ in rows:
        if (language, code) not in made:
            process, ctx = compiled(one_task(script(language, code)), tmp_path)
            assert [d.message for d in ctx.diagnostics if d.code == "OF404"] == []
            made[language, code] = process
        requests.append(request(made[language, code], given))
    wrong = []
    for (language, code, given, after), run in zip(rows, engine.run_many(requests), strict=True):
        found = variables(run)
        if found != after and not (after is None and isinstance(found, str)):
            wrong.append((language, code, given, after, found))
    assert wrong == []


def test_scripts_on_the_engine(engine: LocalEngine, tmp_path: Path) -> None:
    requests = []
    for language, code, result, given, _ in SCRIPTS:
        process, ctx = compiled(one_task(script(language, code, result)), tmp_path)
        assert [d.message for d in ctx.diagnostics if d.code == "OF404"] == []
        requests.append(request(process, given))
    found = [variables(run) for run in engine.run_many(requests)]
    assert found == [row[4] for row in SCRIPTS]


ALIAS = "a change of a value that may have another name is not supported"
LEFT = (
    ("groovy", "for (i in 1..3) { total = i }", "`.` is not supported here"),
    ("groovy", "while (x) { x = 1 }", "`while` is not supported"),
    (
        "javascript",
        "for (var i = 0; i < 3; i++) { x += i }",
        "only `for` over the values of a list is supported",
    ),
    (
        "javascript",
        "for (var k in order) { x = k }",
        "`for` over the names of entries is not supported",
    ),
    ("groovy", "for (i in a) { return i }", "`return` in a loop is not supported"),
    ("groovy", "for (i in a) { break }", "`break` is not supported"),
    ("groovy", "for (i in a) { x = 1 }\ny = i", "a loop variable is not supported after the loop"),
    (
        "groovy",
        "for (i in a) { i = 1 }",
        "an assignment to a loop variable is not supported",
    ),
    (
        "groovy",
        "def i = 1\nfor (i in a) { x = i }",
        "a loop variable that exists before the loop is not supported",
    ),
    ("groovy", "def o = order\no.total = 1", ALIAS),
    ("groovy", "order.lines = l\nl.add(1)", ALIAS),
    ("groovy", "execution.setVariable('names', l)\nl.add(1)", ALIAS),
    ("groovy", "for (i in items) { i.done = true }", ALIAS),
    ("groovy", "for (i in items) { items.add(1) }", ALIAS),
    ("groovy", "for (i in items) { l.add(i)\nother = l }", ALIAS),
    ("groovy", "o.a = x\no.a.b = 1", ALIAS),
    ("groovy", "def a = order.by\na.name = 1", ALIAS),
    ("groovy", "for (i in items) { o.a = l\nl.add(1) }", ALIAS),
    ("groovy", "rows[0] = 1", "assignments to list positions are not supported"),
    ("groovy", "order.__proto__ = 1", "`order.__proto__` is no variable"),
    ("groovy", "m.put(k, 1)", "`put` takes a quoted name and a value"),
    ("javascript", "x = a ?: b", "`:` is not supported here"),
    ("javascript", "import a", "`import` is not supported"),
    ("groovy", "x = service.call(y)", "calls of `call` are not supported"),
    ("javascript", "function f() { return 1 } f()", "`function` is not supported"),
    ("javascript", "throw new Trouble('Hi')", 'only `throw new BpmnError("code")` is supported'),
    ("groovy", "throw new RuntimeException(x)", 'only `throw new BpmnError("code")` is supported'),
    ("javascript", "return process.exit()", "calls of `exit` are not supported"),
    ("javascript", "x = 1 }); process.exit(); ({", "`}` is not supported"),
    ("javascript", "constructor = 1", "`constructor` is no variable"),
    ("groovy", "'abc", "`'abc` is not supported"),
    ("python", "import os", "`import` is not supported"),
    ("groovy", "int i = 5 / 2", "a fraction in an integer variable is not supported"),
    (
        "mvel",
        "int i = 1; i = i / 2;",
        "a fraction in an integer variable is not supported",
    ),
    ("java", "y = x / 2;", "whether `/` gives a fraction depends on types"),
    ("groovy", 'y = "${x"', "`}` expected"),
    ("groovy", "y = [1, a: 2]", "an entry with a name is not supported here"),
    ("javascript", "y = {a: 1, 2}", "an entry without a name is not supported here"),
    ("javascript", "y = {constructor: 1}", "the key `constructor` is not supported"),
    ("javascript", "if (x) { return 1; z = 2; }", "statements after `return` are not supported"),
    ("javascript", "if (x) { x + 1 } z = 2", "values in branches are not supported"),
    ("ruby", "x = 1", "scripts in `ruby` are not supported"),
    ("groovy", "a = b = 3", "an assignment inside a value is not supported"),
    ("groovy", "x = a % 0", "it divides by zero"),
    ("python", "n = 7\nn **= 2", "the condition ends too early"),
)


@pytest.mark.parametrize(("language", "code", "reason"), LEFT)
def test_scripts_that_are_not_understood_stay_placeholders(
    language: str, code: str, reason: str, tmp_path: Path
) -> None:
    process, ctx = compiled(one_task(script(language, code)), tmp_path)
    (node,) = [n for n in process.root.workflow["nodes"] if n["name"] == "Work"]
    assert node["type"] == "n8n-nodes-base.noOp"
    (found,) = [d for d in ctx.diagnostics if d.code == "OF404"]
    assert f"({reason})" in found.message


def mapped(inputs: str, outputs: str, kind: str = 'camunda:type="external"') -> str:
    return (
        f'<serviceTask id="t" name="Work" {kind} camunda:topic="x"><extensionElements>'
        f"<camunda:inputOutput>{inputs}{outputs}</camunda:inputOutput></extensionElements>"
        "</serviceTask>"
    )


def into(name: str, text: str) -> str:
    return f'<camunda:inputParameter name="{name}">{escape(text)}</camunda:inputParameter>'


def out(name: str, text: str) -> str:
    return f'<camunda:outputParameter name="{name}">{escape(text)}</camunda:outputParameter>'


def test_a_placeholder_is_given_its_inputs_and_its_outputs_are_set(
    engine: LocalEngine, tmp_path: Path
) -> None:
    task = mapped(
        into("greeting", "Hello ${name}!") + into("amount", "${order.sum * 2}"),
        out("status", "${answer.code}") + out("kept", "${amount}"),
    )
    process, _ = compiled(one_task(task), tmp_path)
    given = {"name": "Bo", "order": {"sum": 4}, "amount": 1}
    asked = request(process, given, Work={"visits": [{"answer": {"code": 7}}], "mode": "merge"})
    (run,) = engine.run_many([asked])
    seen = {one.node: one.items[0][0] for one in run.order if one.items and one.items[0]}
    assert seen["Work inputs"] == {**given, "greeting": "Hello Bo!", "amount": 8}
    after = variables(run)
    assert isinstance(after, dict)
    assert (after["status"], after["kept"]) == (7, 8)


@pytest.mark.parametrize(
    ("language", "code", "said"),
    [
        ("javascript", "if (x > 1) throw new Error('Hi {{ 1 }}')", "Hi {{ 1 }}"),
        ("groovy", "throw new RuntimeException()", "RuntimeException"),
    ],
)
def test_a_script_that_throws_ends_the_run(
    language: str, code: str, said: str, engine: LocalEngine, tmp_path: Path
) -> None:
    process, _ = compiled(one_task(script(language, code)), tmp_path)
    (run,) = engine.run_many([request(process, {"x": 2})])
    assert run.status == "error"
    assert said in (run.error or "")


def test_listeners_at_the_end_come_before_output_mappings(
    engine: LocalEngine, tmp_path: Path
) -> None:
    """Camunda 7: the listeners of an activity end it, and its scope is left with the outputs."""
    listener = (
        '<camunda:executionListener event="end"><camunda:script scriptFormat="groovy">'
        "execution.setVariable('n', n + 1)</camunda:script></camunda:executionListener>"
    )
    for kind in ('camunda:type="external"', 'camunda:expression="${1}"'):
        task = mapped(into("k", "${n}"), out("kept", "${n * 10 + k}"), kind)
        task = task.replace("<extensionElements>", f"<extensionElements>{listener}")
        process, ctx = compiled(one_task(task), tmp_path)
        assert [d.message for d in ctx.diagnostics if "not understood" in d.message] == []
        stubs = {"Work": {"visits": [{}], "mode": "merge"}} if "external" in kind else {}
        (run,) = engine.run_many([request(process, {"n": 1}, **stubs)])
        after = variables(run)
        assert isinstance(after, dict)
        assert (after["n"], after["kept"]) == (2, 21)


def test_feel_names_of_several_words_are_variables(engine: LocalEngine, tmp_path: Path) -> None:
    """They are carried past a step that replaces the item, and read by mappings and conditions."""
    first = '<serviceTask id="a" name="Look up"><extensionElements><zeebe:taskDefinition type="l"/>'
    first += '<zeebe:ioMapping><zeebe:output source="= found.state" target="Vacation Approval"/>'
    first += "</zeebe:ioMapping></extensionElements></serviceTask>"
    flows = "".join(
        f'<sequenceFlow id="f{n}" sourceRef="{s}" targetRef="{t}">{c}</sequenceFlow>'
        for n, (s, t, c) in enumerate(
            (
                ("s", "a", ""), ("a", "b", ""), ("b", "t", ""), ("t", "g", ""),
                ("g", "e", "<conditionExpression>=Vacation Approval = &quot;yes&quot;"
                 "</conditionExpression>"),
                ("g", "n", "<conditionExpression>=Vacation Approval != &quot;yes&quot;"
                 "</conditionExpression>"),
            )
        )
    )  # fmt: skip
    text = (
        f'{HEAD}<startEvent id="s"/>{first}<serviceTask id="b" name="Replace"/>'
        '<serviceTask id="t" name="Work"><extensionElements><zeebe:taskDefinition type="m"/>'
        '<zeebe:ioMapping><zeebe:input source=\'= "Hi " + Current Status.first name + ": " + '
        'Vacation Approval\' target="text"/></zeebe:ioMapping></extensionElements></serviceTask>'
        '<exclusiveGateway id="g"/><endEvent id="e" name="Done"/><endEvent id="n" name="No"/>'
        f"{flows}</process></definitions>"
    )
    process, ctx = compiled(text, tmp_path)
    assert [d.message for d in ctx.diagnostics if "expected here" in d.message] == []
    given = {"Current Status": {"first name": "Bo"}}
    stubs = {
        "Look up": {"visits": [{"found": {"state": "yes"}}], "mode": "replace"},
        "Replace": {"visits": [{"other": 1}], "mode": "replace"},
        "Work": {"visits": [{}], "mode": "merge"},
    }
    (run,) = engine.run_many([request(process, given, **stubs)])
    assert run.status == "success", run.error
    seen = {one.node: one.items[0][0] for one in run.order if one.items and one.items[0]}
    assert seen["Work inputs"]["text"] == "Hi Bo: yes"
    assert run.order[-1].node == "Done"


def test_a_text_that_begins_with_an_equals_sign_is_no_feel_in_camunda_7(
    engine: LocalEngine, tmp_path: Path
) -> None:
    task = mapped(into("note", "= 5 apples") + into("both", "=${name}"), out("kept", "${note}"))
    process, ctx = compiled(one_task(task), tmp_path)
    assert [d.message for d in ctx.diagnostics if "not understood" in d.message] == []
    asked = request(process, {"name": "Bo"}, Work={"visits": [{}], "mode": "merge"})
    (run,) = engine.run_many([asked])
    seen = {one.node: one.items[0][0] for one in run.order if one.items and one.items[0]}
    assert seen["Work inputs"]["both"] == "=Bo"
    assert variables(run)["kept"] == "= 5 apples"  # type: ignore[index]


def test_an_output_of_a_step_that_replaces_the_item(engine: LocalEngine, tmp_path: Path) -> None:
    """Variables from before are known in the mapping, though the step handed on none of them."""
    process, _ = compiled(one_task(mapped("", out("both", "${answer}-${name}"))), tmp_path)
    stub = {"visits": [{"answer": 1}], "mode": "replace"}
    (run,) = engine.run_many([request(process, {"name": "Bo"}, Work=stub)])
    after = variables(run)
    assert isinstance(after, dict)
    assert after["both"] == "1-Bo"
    (run,) = engine.run_many([request(process, {"name": "Bo"})])
    said = "“answer” was never set, and “Work” reads it. Set it in “Work” or the input of the run."
    assert variables(run) == said


def test_what_only_a_task_knows_is_no_variable_behind_it(
    engine: LocalEngine, tmp_path: Path
) -> None:
    text = (
        f'{HEAD}<startEvent id="s"/><sequenceFlow id="f0" sourceRef="s" targetRef="t"/>'
        f"{mapped(into('amount', '1000'), '')}"
        '<sequenceFlow id="f1" sourceRef="t" targetRef="u"/>'
        + script("groovy", "amount + 1", "more").replace('id="t" name="Work"', 'id="u" name="Add"')
        + '<sequenceFlow id="f2" sourceRef="u" targetRef="e"/><endEvent id="e" name="Done"/>'
        "</process></definitions>"
    )
    process, _ = compiled(text, tmp_path)
    (run,) = engine.run_many([request(process, {"amount": 1})])
    after = variables(run)
    assert isinstance(after, dict)
    assert after["more"] == 2


def test_expressions_and_zeebe_scripts(engine: LocalEngine, tmp_path: Path) -> None:
    rows: tuple[tuple[str, dict[str, Any], dict[str, Any]], ...] = (
        ('<serviceTask id="t" name="Work" camunda:expression="${a + b}" '
         'camunda:resultVariable="c"/>', {"a": 1, "b": 2}, {"a": 1, "b": 2, "c": 3}),
        ('<serviceTask id="t" name="Work" '
         "camunda:expression=\"${execution.setVariable('n', a)}\"/>", {"a": 1}, {"a": 1, "n": 1}),
        ('<scriptTask id="t" name="Work"><extensionElements><zeebe:script '
         'expression="= for x in xs return x * 2" resultVariable="ys"/></extensionElements>'
         "</scriptTask>", {"xs": [1, 2]}, {"xs": [1, 2], "ys": [2, 4]}),
        ('<scriptTask id="t" name="Work" scriptFormat="groovy" camunda:resultVariable="y">'
         '<extensionElements><camunda:executionListener event="start"><camunda:script '
         "scriptFormat=\"groovy\">execution.setVariable('x', 5)</camunda:script>"
         "</camunda:executionListener></extensionElements><script>x + 1</script></scriptTask>",
         {}, {"x": 5, "y": 6}),
    )  # fmt: skip
    made = [compiled(one_task(task), tmp_path)[0] for task, _, _ in rows]
    runs = engine.run_many([request(p, row[1]) for p, row in zip(made, rows, strict=True)])
    assert [variables(run) for run in runs] == [row[2] for row in rows]


DMN = """<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="d" name="D" namespace="n">
<decision id="rating" name="Rating"><decisionTable id="dt" hitPolicy="{policy}">
<input id="i"><inputExpression id="ie"><text>order.amount</text></inputExpression></input>
<output id="o" name="risk"/>{second}
{rules}
</decisionTable></decision></definitions>"""


def table(policy: str, *rules: tuple[str, ...]) -> str:
    rows = []
    for at, (test, *entries) in enumerate(rules):
        cells = "".join(
            f'<outputEntry id="o{at}_{k}"><text>{escape(entry)}</text></outputEntry>'
            for k, entry in enumerate(entries)
        )
        rows.append(
            f'<rule id="r{at}"><inputEntry id="e{at}"><text>{escape(test)}</text></inputEntry>'
            f"{cells}</rule>"
        )
    second = '<output id="o2" name="by"/>' if len(rules[0]) > 2 else ""
    return DMN.format(policy=policy, rules="\n".join(rows), second=second)


ONE = table("UNIQUE", ("< 100", '"low"'), (">= 100", '"high"'))
TWO = table("FIRST", ("< 100", '"low"', '"a"'), ("< 500", '"mid"', '"b"'))
MANY = table("COLLECT", ("> 10", '"x"'), ("> 20", '"y"'))
SUM = table('COLLECT" aggregation="SUM', ("> 10", "1"), ("> 20", "2"))


def decides(mapping: str, result: str = "r") -> str:
    said = f' camunda:mapDecisionResult="{mapping}"' if mapping else ""
    named = f' camunda:resultVariable="{result}"' if result else ""
    return f'<businessRuleTask id="t" name="Work" camunda:decisionRef="rating"{said}{named}/>'


ZEEBE = (
    '<businessRuleTask id="t" name="Work"><extensionElements><zeebe:calledDecision '
    'decisionId="rating" resultVariable="r"/></extensionElements></businessRuleTask>'
)
FLOWABLE = (
    '<serviceTask id="t" name="Work" flowable:type="dmn"><extensionElements><flowable:field '
    'name="decisionTableReferenceKey" stringValue="rating"/></extensionElements></serviceTask>'
)


def typed(type_ref: str, *rules: tuple[str, ...]) -> str:
    """A table of which the input has a type, as Flowable's editor writes it."""
    written = table("FIRST", *rules)
    return written.replace('<inputExpression id="ie"', f'<inputExpression typeRef="{type_ref}"')


CELLS = typed("number", ("== 5", "'five'"), ("!= 7", '"other"'), ("-", "'seven'"))
HELD = typed("Any", ("${collection:contains(order.amount, 20)}", "'has it'"), ("-", "'has not'"))


def concluding(type_ref: str, engine: str, *rules: tuple[str, ...]) -> str:
    """A table of an engine, of which the output has a type."""
    written = table("FIRST", *rules).replace(' name="risk"', f' name="risk" typeRef="{type_ref}"')
    return written.replace("<definitions ", f"<definitions {engine} ")


def graph(engine: str, read: str) -> str:
    """Two tables, of which the first is read under a name by the second."""
    first = table("UNIQUE", ("< 100", '"small"'), (">= 100", '"large"'))
    first = first.replace('id="rating" name="Rating"', 'id="size_id" name="The size"')
    first = first.replace('name="risk"', 'name="size"').replace('id="', 'id="s_')
    second = table("FIRST", ('"small"', '"low"'), ("-", '"high"'))
    second = second.replace("order.amount", read).replace(
        '<decisionTable id="dt"',
        '<informationRequirement><requiredDecision href="#s_size_id"/></informationRequirement>'
        '<decisionTable id="dt"',
    )
    inner = first[first.index("<decision ") : first.index("</definitions>")]
    written = second.replace("</definitions>", f"{inner}</definitions>")
    return written.replace("<definitions ", f"<definitions {engine} ")


DMN8 = (
    'xmlns:modeler="http://camunda.org/schema/modeler/1.0" '
    'modeler:executionPlatform="Camunda Cloud"'
)
DMN7 = 'xmlns:camunda="http://camunda.org/schema/1.0/dmn"'
DMN_FLOWABLE = 'xmlns:flowable="http://flowable.org/dmn"'
DECISIONS: tuple[tuple[str, str, Any, Any], ...] = (
    # file, task, amount, variables that are set
    (ONE, decides("singleEntry"), 50, {"r": "low"}),
    (ONE, decides("singleResult"), 500, {"r": {"risk": "high"}}),
    (ONE, decides("collectEntries"), 500, {"r": ["high"]}),
    (ONE, decides("resultList"), 500, {"r": [{"risk": "high"}]}),
    (ONE, decides(""), 500, {"r": [{"risk": "high"}]}),
    (TWO, decides("singleResult"), 50, {"r": {"risk": "low", "by": "a"}}),
    (TWO, decides("singleResult"), 900, {"r": None}),
    (TWO, decides("resultList"), 900, {"r": []}),
    (MANY, decides("collectEntries"), 30, {"r": ["x", "y"]}),
    (MANY, decides("collectEntries"), 5, {"r": []}),
    (MANY, decides("resultList"), 15, {"r": [{"risk": "x"}]}),
    (MANY, decides("singleEntry"), 15, {"r": "x"}),
    (MANY, decides("singleEntry"), 30,
     "The decision “Rating” has several results, but one is expected."),
    (SUM, decides("singleEntry"), 30, {"r": 3}),
    (ONE, ZEEBE, 50, {"r": "low"}),
    (TWO, ZEEBE, 50, {"r": {"risk": "low", "by": "a"}}),
    (MANY, ZEEBE, 30, {"r": ["x", "y"]}),
    (SUM, ZEEBE, 30, {"r": 3}),
    (ONE, FLOWABLE, 50, {"risk": "low"}),
    (TWO, FLOWABLE, 200, {"risk": "mid", "by": "b"}),
    (TWO, FLOWABLE, 900, {}),
    (CELLS, FLOWABLE, 5, {"risk": "five"}),
    (CELLS, FLOWABLE, 6, {"risk": "other"}),
    (CELLS, FLOWABLE, 7, {"risk": "seven"}),
    (concluding("string", DMN_FLOWABLE, ("-", "5")), FLOWABLE, 1, {"risk": "5"}),
    (concluding("string", DMN_FLOWABLE, ("-", "order.amount")), FLOWABLE, 7, {"risk": "7"}),
    (concluding("string", DMN7, ("-", "5.0")), decides("singleEntry"), 1, {"r": "5"}),
    (concluding("integer", DMN7, ("-", '"5"')), decides("singleEntry"), 1, {"r": 5}),
    (graph(DMN7, "size"), decides("singleEntry"), 50, {"r": "low"}),
    (graph(DMN7, "size"), decides("singleEntry"), 500, {"r": "high"}),
    (graph(DMN8, "s_size_id"), ZEEBE, 50, {"r": "low"}),
    (graph("", "The size"), ZEEBE, 50, {"r": "low"}),
    (typed("integer", ("> 5", '"more"')).replace("<definitions ", f"<definitions {DMN7} "),
     decides("singleEntry"), "10", {"r": "more"}),
    (typed("integer", ("> 5", '"more"')).replace("<definitions ", f"<definitions {DMN7} "),
     decides("singleEntry"), "many",
     'A decision table expects a value of type integer, not "many".'),
    (typed("date", ('< date and time("2024-02-01T00:00:00")', '"before"')).replace(
        "<definitions ", f"<definitions {DMN7} "),
     decides("singleEntry"), "2024-01-31T10:00:00", {"r": "before"}),
    (table("UNIQUE", ("> 10", '"x"'), ("> 20", '"y"')).replace(
        "<definitions ", f"<definitions {DMN7} "), decides("singleEntry"), 30,
     "Several rules of a decision table match, but its hit policy is UNIQUE."),
    (HELD, FLOWABLE, [5, 20], {"risk": "has it"}),
    (HELD, FLOWABLE, [5], {"risk": "has not"}),
)  # fmt: skip


def test_decisions_on_the_engine(engine: LocalEngine, tmp_path: Path) -> None:
    requests = []
    for file, task, amount, _ in DECISIONS:
        (tmp_path / "rating.dmn").write_text(file, "utf-8")
        process, ctx = compiled(one_task(task), tmp_path)
        assert [d.message for d in ctx.diagnostics if d.code == "OF404"] == []
        requests.append(request(process, {"order": {"amount": amount}}))
    wrong = []
    for (_, task, amount, wanted), run in zip(DECISIONS, engine.run_many(requests), strict=True):
        found = variables(run)
        if isinstance(found, dict):
            found = {k: v for k, v in found.items() if (k != "order" and v is not None) or k == "r"}
        if found != wanted:
            wrong.append((task, amount, found, wanted))
    assert wrong == []


def test_the_note_of_a_decision_has_its_rules(tmp_path: Path) -> None:
    """A line each, whatever the table contains, and at most 20."""
    odd = table("FIRST", ("<\n\n100", '"orgflow: other"'), ("-", '"high"'))
    long = table("COLLECT", *((f"> {n}", str(n)) for n in range(30)))
    found = []
    for file in (TWO, odd, long):
        (tmp_path / "rating.dmn").write_text(file, "utf-8")
        process, _ = compiled(one_task(decides("")), tmp_path)
        (node,) = [n for n in process.root.workflow["nodes"] if n["name"] == "Work"]
        assert tag_of(node["notes"]) == ("t", "")
        found.append(next(p for p in node["notes"].split("\n\n") if p.startswith("Rules")))
    assert found[0].splitlines() == [
        "Rules of Rating (rating.dmn, FIRST):",
        '- order.amount: < 100 → "low", "a"',
        '- order.amount: < 500 → "mid", "b"',
    ]
    assert found[1].splitlines()[1:] == [
        '- order.amount: < 100 → "orgflow: other"',
        '- any input → "high"',
    ]
    assert len(found[2].splitlines()) == 22
    assert found[2].endswith("- … and 10 more")


def test_an_input_that_nobody_set_stops_the_run(engine: LocalEngine, tmp_path: Path) -> None:
    (tmp_path / "rating.dmn").write_text(ONE, "utf-8")
    process, _ = compiled(one_task(ZEEBE), tmp_path)
    (run,) = engine.run_many([request(process, {})])
    assert variables(run) == UNSET.replace("“x”", "“order”")


CLOUD = (
    'xmlns:modeler="http://camunda.org/schema/modeler/1.0" '
    'modeler:executionPlatform="Camunda Cloud"'
)


@pytest.mark.parametrize(
    ("type_ref", "cell", "result"),
    [("string", "5", 5), ("string", '{a: "b"}', {"a": "b"}), ("number", '"x"', "x"),
     ("boolean", "[1, 2]", [1, 2])],
)  # fmt: skip
def test_camunda_8_does_not_convert_results(
    engine: LocalEngine, tmp_path: Path, type_ref: str, cell: str, result: object
) -> None:
    """A client's tests of Zeebe read a number and a context in a column of texts."""
    (tmp_path / "rating.dmn").write_text(concluding(type_ref, CLOUD, ("-", cell)), "utf-8")
    process, _ = compiled(one_task(ZEEBE), tmp_path)
    (run,) = engine.run_many([request(process, {"order": {"amount": 1}})])
    after = variables(run)
    assert isinstance(after, dict)
    assert [value for name, value in after.items() if name != "order"] == [result]


BROKEN = (
    (None, ZEEBE, "there is no DMN file next to the model with the id or name `rating`"),
    (ONE.replace('"rating"', '"other"'), ZEEBE.replace("rating", "missing"),
     "none of rating.dmn has a decision with the id or name `missing`"),
    ("<x/>", ZEEBE, "rating.dmn cannot be read"),
    (table("UNIQUE", ("< < 1", '"a"')), ZEEBE, "`Rating` in rating.dmn is not valid"),
    (table("UNIQUE", ("== 5", '"a"')), ZEEBE, "`Rating` in rating.dmn is not valid"),
    (concluding("string", "", ("-", "5")), ZEEBE, "it is not a string, the type of the output"),
    (concluding("integer", DMN7, ("-", "5.5")), ZEEBE, "there is no type `integer`"),
    (TWO, decides("singleEntry"), "`singleEntry` needs one output, and it has 2"),
    (ONE, ZEEBE.replace('"rating"', '"= which"'), "it is only known at run time"),
)  # fmt: skip


@pytest.mark.parametrize(("file", "task", "reason"), BROKEN)
def test_decisions_that_cannot_be_used_say_why(
    file: str | None, task: str, reason: str, tmp_path: Path
) -> None:
    if file is not None:
        (tmp_path / "rating.dmn").write_text(file, "utf-8")
    process, ctx = compiled(one_task(task), tmp_path)
    (node,) = [n for n in process.root.workflow["nodes"] if n["name"] == "Work"]
    assert node["type"] == "n8n-nodes-base.noOp"
    (found,) = [d for d in ctx.diagnostics if d.code == "OF404"]
    assert reason in found.message


def test_variables_get_to_what_computes_with_them(engine: LocalEngine, tmp_path: Path) -> None:
    """A step between replaces the item; the script behind it still knows the variable."""
    text = (
        f'{HEAD}<startEvent id="s"/><sequenceFlow id="f0" sourceRef="s" targetRef="a"/>'
        '<task id="a" name="A"/><sequenceFlow id="f1" sourceRef="a" targetRef="t"/>'
        + script("groovy", "x + 1", "y")
        + '<sequenceFlow id="f2" sourceRef="t" targetRef="e"/><endEvent id="e" name="Done"/>'
        "</process></definitions>"
    )
    process, _ = compiled(text, tmp_path)
    stub = {"visits": [{"other": 1}], "mode": "replace"}
    (run,) = engine.run_many([request(process, {"x": 1}, A=stub)])
    after = variables(run)
    assert isinstance(after, dict)
    assert after["y"] == 2


def split(left: str, right: str, behind: str) -> str:
    """Two scripts side by side, and one behind their join."""
    tasks = [
        script("groovy", code).replace('id="t" name="Work"', f'id="{key}" name="{key.upper()}"')
        for key, code in (("l", left), ("r", right), ("t", behind))
    ]
    wires = [("s", "fork"), ("fork", "l"), ("fork", "r"), ("l", "join"), ("r", "join"),
             ("join", "t"), ("t", "e")]  # fmt: skip
    return (
        f'{HEAD}<startEvent id="s"/><parallelGateway id="fork"/><parallelGateway id="join"/>'
        + "".join(tasks)
        + "".join(
            f'<sequenceFlow id="f{n}" sourceRef="{a}" targetRef="{b}"/>'
            for n, (a, b) in enumerate(wires)
        )
        + '<endEvent id="e" name="Done"/></process></definitions>'
    )


def test_scripts_side_by_side(engine: LocalEngine, tmp_path: Path) -> None:
    rows: tuple[tuple[str, str, str, dict[str, Any], dict[str, Any] | str], ...] = (
        ("a = x + 1", "b = x + 2", "c = a * b", {"x": 1}, {"a": 2, "b": 3, "c": 6}),
        ("x = 5", "b = 2", "c = x * b", {"x": 1}, {"x": 5, "b": 2, "c": 10}),
        ("b = 2", "x = 5", "c = x * b", {"x": 1}, {"x": 5, "b": 2, "c": 10}),
        ("x = 5", "x = 6", "c = x", {"x": 1},
         'Parallel branches left different values in "x": 5, 6 [line 12]'),
    )  # fmt: skip
    made = [compiled(split(*row[:3]), tmp_path)[0] for row in rows]
    runs = engine.run_many([request(p, row[3]) for p, row in zip(made, rows, strict=True)])
    for run, row in zip(runs, rows, strict=True):
        found = variables(run)
        if isinstance(row[4], str):
            assert isinstance(found, str)
            assert found.partition(" [")[0] == row[4].partition(" [")[0]
        else:
            assert isinstance(found, dict)
            assert {name: found[name] for name in row[4]} == row[4]


def test_a_script_in_a_loop_counts(engine: LocalEngine, tmp_path: Path) -> None:
    text = (
        f'{HEAD}<startEvent id="s"/><exclusiveGateway id="j"/><exclusiveGateway id="g" '
        'name="Enough?" default="f4"/>'
        + script("groovy", "n = n + 1")
        + '<sequenceFlow id="f0" sourceRef="s" targetRef="j"/>'
        '<sequenceFlow id="f1" sourceRef="j" targetRef="t"/>'
        '<sequenceFlow id="f2" sourceRef="t" targetRef="g"/>'
        '<sequenceFlow id="f3" sourceRef="g" targetRef="j"><conditionExpression>'
        "${n &lt; 5}</conditionExpression></sequenceFlow>"
        '<sequenceFlow id="f4" sourceRef="g" targetRef="e"/><endEvent id="e" name="Done"/>'
        "</process></definitions>"
    )
    process, _ = compiled(text, tmp_path)
    (run,) = engine.run_many([request(process, {"n": 0})])
    after = variables(run)
    assert isinstance(after, dict)
    assert after["n"] == 5


def test_what_scripts_set_is_known(tmp_path: Path) -> None:
    """An assignment of Groovy, a parsed call, and in a script that is not supported the call."""
    for code, wanted in (
        ("total = a + 1\ndef own = 2", ("total",)),
        ("execution.setVariable('n', 1)", ("n",)),
        ("for (i in 1..3) { execution.setVariable('n', i) }", ("n",)),
        ("println('setVariable')", ()),
    ):
        process, _ = compiled(one_task(script("groovy", code)), tmp_path)
        declared = process.root.plan.variables.declared
        assert tuple(declared) == wanted
        assert all(s == Setter("t", "script") for names in declared.values() for s in names)


LOCAL = (
    '<receiveTask id="t" name="Work"><extensionElements>{io}</extensionElements></receiveTask>',
    '<serviceTask id="t" name="Work" camunda:type="external" camunda:topic="x">'
    "<extensionElements>{io}</extensionElements></serviceTask>",
)


@pytest.mark.parametrize("task", LOCAL)
def test_outputs_read_what_the_task_was_given(
    engine: LocalEngine, tmp_path: Path, task: str
) -> None:
    """Also where what does the task hands on an item of its own."""
    io = (
        '<camunda:inputOutput><camunda:inputParameter name="f">${factor}</camunda:inputParameter>'
        '<camunda:outputParameter name="total">${sum * f}</camunda:outputParameter>'
        "</camunda:inputOutput>"
    )
    process, _ = compiled(one_task(task.format(io=io)), tmp_path)
    given: list[dict[str, Any]] = [{"sum": 5}]
    stubs = {"Work": {"visits": given, "mode": "replace"}} if "service" in task else None
    request = RunRequest(
        process.root.workflow, "Start", items=[{"json": {"factor": 2}}], stubs=stubs,
        answers=None if stubs else {"Work": given}, data=True,
    )  # fmt: skip
    (run,) = engine.run_many([request])
    found = variables(run)
    assert isinstance(found, dict), found
    assert found["total"] == 10


C7, FLOWABLE = 'camunda:exclusive="true"', 'flowable:exclusive="true"'
STORES = 'flowable:autoStoreVariables="{}"'.format
FIRST = (
    "The script assigns “{}”, and {} reads the variable of the process with this name instead. "
    "Declare it in the script."
).format
ASSIGNMENTS: tuple[tuple[str, str, str, dict[str, Any], dict[str, Any] | str], ...] = (
    # attribute of an engine, language, code, variables before, variables after or the error
    (C7, "groovy", "x = x + 1", {"x": 1}, {"x": 1}),
    (C7, "groovy", "total = a + 1", {"a": 1}, {"a": 1}),
    (C7, "javascript", "var total = a + 1; total = 3", {"a": 1}, {"a": 1}),
    (C7, "python", "total = a + 1", {"a": 1}, {"a": 1}),
    (C7, "groovy", "x = x + 1\nx += 1\nexecution.setVariable('y', x)", {"x": 1},
     {"x": 1, "y": 3}),
    # The variable of the script has precedence in Camunda, and a call reads that of the process.
    (C7, "groovy", "x = 2\nexecution.setVariable('x', 5)\nexecution.setVariable('y', x)", {"x": 1},
     {"x": 5, "y": 2}),
    (C7, "groovy", "x = 2\nexecution.setVariable('y', execution.getVariable('x') + x)", {"x": 1},
     {"x": 1, "y": 3}),
    (C7, "javascript", "var x = 2; execution.setVariable('y', execution.getVariable('x') + x)",
     {"x": 1}, {"x": 1, "y": 3}),
    (C7, "groovy", "def x = 2\nexecution.setVariable('y', execution.getVariable('x') + x)",
     {"x": 1}, {"x": 1, "y": 3}),
    (C7, "groovy", "if (a > 1) { k = 'big' } else { k = 'small' }\nexecution.setVariable('y', k)",
     {"a": 2, "k": 0}, {"a": 2, "k": 0, "y": "big"}),
    (C7, "groovy", "sum = 0\nfor (i in xs) { sum += i }\nexecution.setVariable('y', sum)",
     {"xs": [1, 2]}, {"xs": [1, 2], "y": 3}),
    (C7, "groovy", "y = [x, 1]\ny", {"x": 2}, {"x": 2}),
    (FLOWABLE, "groovy", "x = x + 1", {"x": 1}, {"x": 1}),
    (FLOWABLE, "groovy", "n = x + 1\nexecution.setVariable('y', n)", {"x": 1}, {"x": 1, "y": 2}),
    (FLOWABLE, "groovy", "n = x + 1\nexecution.setVariable('y', n)", {"x": 1, "n": 5},
     FIRST("n", "Flowable")),
    (FLOWABLE, "groovy", "n = x + 1\nexecution.setVariable('y', n)", {"x": 1, "n": None},
     FIRST("n", "Flowable")),
    (FLOWABLE, "groovy",
     "n = 1\nexecution.setVariable('n', n + 1)\nexecution.setVariable('y', n)", {},
     {"n": 2, "y": 2}),
    (FLOWABLE, "groovy", "def n = 1\nexecution.setVariable('y', n)", {"n": 5}, {"n": 5, "y": 1}),
    (FLOWABLE, "javascript", "n = 1; execution.setVariable('y', n)", {"n": 5}, {"n": 5, "y": 1}),
    (STORES("false"), "groovy", "def a = 2\nx = x + a\nexecution.setVariable('y', x)", {"x": 1},
     FIRST("x", "Flowable")),
    (STORES("true"), "groovy", "def a = 2\nx = x + a\nexecution.setVariable('y', x)", {"x": 1},
     {"x": 3, "y": 3}),
    (STORES("True"), "groovy", "x = 2", {"x": 1}, {"x": 2}),
    ('activiti:exclusive="true"', "groovy", "n = 1\nexecution.setVariable('y', n)", {"n": 5},
     FIRST("n", "Activiti")),
)  # fmt: skip


def test_whether_assignments_set_variables_depends_on_the_engine(
    engine: LocalEngine, tmp_path: Path
) -> None:
    """Camunda 7 (`ScriptBindings`, `autoStoreScriptVariables` is off), Flowable and Activiti."""
    requests, wanted = [], []
    for attribute, language, code, given, after in ASSIGNMENTS:
        task = script(language, code).replace(" name=", f" {attribute} name=")
        text = one_task(task).replace("<definitions ", f"<definitions {ACTIVITI} ")
        process, _ = compiled(text, tmp_path)
        requests.append(request(process, given))
        wanted.append((attribute, code, after))
    found = [
        (attribute, code, variables(run))
        for (attribute, code, _), run in zip(wanted, engine.run_many(requests), strict=True)
    ]
    assert found == wanted


ACTIVITI = 'xmlns:activiti="http://activiti.org/bpmn"'


NO_TEXT = "the text of a decimal is not supported"
TWO_SCRIPTS: tuple[tuple[str, str, str, int, Any], ...] = (
    # first script, its result variable, second script, n, the variable y after or the fault
    (
        "execution.setVariable('x', n + 0.1)",
        "",
        "execution.setVariable('y', x + 0.2)",
        0,
        "A value computed from “x” has no exact result.",
    ),
    (
        "n + 0.1",
        "x",
        "execution.setVariable('y', x + 0.2)",
        0,
        "A value computed from “x” has no exact result.",
    ),
    ("execution.setVariable('x', n + 0.5)", "", "execution.setVariable('y', x + 0.25)", 0, 0.75),
    ("execution.setVariable('x', n * 2.5)", "", "execution.setVariable('y', 'n ' + x)", 2, NO_TEXT),
    ("execution.setVariable('x', n * 2.5)", "", "execution.setVariable('y', x > 3)", 2, True),
    ("execution.setVariable('x', n * 2)", "", "execution.setVariable('y', 'n ' + x)", 2, "n 4"),
)


@pytest.mark.parametrize(("one", "result", "two", "n", "wanted"), TWO_SCRIPTS)
def test_a_decimal_of_groovy_in_another_script(
    engine: LocalEngine, tmp_path: Path, one: str, result: str, two: str, n: int, wanted: Any
) -> None:
    """The sum of two decimals is another one than that of two doubles, and so is the text."""
    following = script("groovy", two).replace('id="t" name="Work"', 'id="u" name="Next"')
    tasks = f'{script("groovy", one, result)}<sequenceFlow id="g" sourceRef="t" targetRef="u"/>'
    text = one_task(tasks + following).replace('id="f1" sourceRef="t"', 'id="f1" sourceRef="u"')
    process, ctx = compiled(text, tmp_path)
    if wanted == NO_TEXT:
        assert any(d.code == "OF404" and NO_TEXT in d.message for d in ctx.diagnostics)
        return
    (run,) = engine.run_many([request(process, {"n": n})])
    after = variables(run)
    assert (after["y"] if isinstance(after, dict) else after) == wanted


JAVA, MVEL = "http://www.java.com/java", "http://www.mvel.org/2.0"
DOUBLE = "“b” is a whole double, which a text in Java has as `5.0`."
DOUBLES: tuple[tuple[str, str, dict[str, Any], Any], ...] = (
    # language, code, variables before, the variable y after or the error
    ("groovy", "def b = a * 2\nexecution.setVariable('y', 'n ' + b)", {"a": 2.5}, DOUBLE),
    ("groovy", "def b = a * 2\nexecution.setVariable('y', 'n ' + b)", {"a": 2}, "n 4"),
    ("groovy", "def b = a * 2\nexecution.setVariable('y', 'n ' + b)", {"a": 2.3}, "n 4.6"),
    ("groovy", "def b = a * 2\nexecution.setVariable('y', \"n ${b}\")", {"a": 2.5}, DOUBLE),
    ("groovy", "def b = a * 2\ndef c = b + 1\nexecution.setVariable('y', 'n ' + c)", {"a": 2.5},
     DOUBLE),
    ("groovy", "def b = a * 2\nexecution.setVariable('y', b + 1)", {"a": 2.5}, 6),
    ("groovy", "execution.setVariable('y', 'n ' + a * 2)", {"a": 2.5}, "n 5.0"),
    (JAVA, 'double b = a * 2; kcontext.setVariable("y", "n " + b);', {"a": 2.5}, DOUBLE),
    (JAVA, 'double b = a; kcontext.setVariable("y", "n " + b);', {"a": 2}, DOUBLE),
    (JAVA, 'double b = a; kcontext.setVariable("y", "n " + b);', {"a": 2.5}, "n 2.5"),
    (JAVA, 'double b = 2.5 * a; kcontext.setVariable("y", "n " + b);', {"a": 2}, DOUBLE),
    (JAVA, 'int b = a + 1; kcontext.setVariable("y", "n " + b);', {"a": 2}, "n 3"),
    (MVEL, 'b = a * 2; kcontext.setVariable("y", "n " + b);', {"a": 2.5}, DOUBLE),
)  # fmt: skip


def test_texts_of_whole_doubles(engine: LocalEngine, tmp_path: Path) -> None:
    """Java writes them with a point (`Double.toString`), whole numbers without."""
    requests = []
    for language, code, given, _ in DOUBLES:
        process, _ = compiled(one_task(script(language, code)), tmp_path)
        requests.append(request(process, given))
    found: list[Any] = []
    for (language, code, given, _), run in zip(DOUBLES, engine.run_many(requests), strict=True):
        after = variables(run)
        y = after["y"] if isinstance(after, dict) else after
        found.append((language, code, given, y))
    assert found == [*DOUBLES]


@pytest.mark.parametrize(
    ("language", "code", "reason"),
    [
        ("groovy", "if (a > 1) { d = 1 }\nexecution.setVariable('y', d)", "only some branches"),
        ("groovy", "for (i in xs) { n = n + i }", "only some branches assign `n`"),
        ("groovy", "if (a > 1) { def d = 1 } else { def d = 2 }\nexecution.setVariable('y', d)",
         "only some branches assign `d`"),
        ("javascript", "var a = a + 1; execution.setVariable('y', a)", "before it is declared"),
        ("javascript", "if (a > 1) { var d = 1 } execution.setVariable('y', d)", "only some"),
    ],
)  # fmt: skip
def test_names_that_depend_on_the_run_are_refused(
    tmp_path: Path, language: str, code: str, reason: str
) -> None:
    task = script(language, code).replace(" name=", f" {C7} name=")
    _, ctx = compiled(one_task(task), tmp_path)
    assert any(d.code == "OF404" and reason in d.message for d in ctx.diagnostics)


def test_variables_of_a_script_are_none_of_its_task(engine: LocalEngine, tmp_path: Path) -> None:
    """An output mapping sees the variable of the input mapping, not that of the script."""
    inside = (
        '<extensionElements><camunda:inputOutput><camunda:inputParameter name="n">${x}'
        '</camunda:inputParameter><camunda:outputParameter name="y">${n * 10}'
        "</camunda:outputParameter></camunda:inputOutput></extensionElements><script>"
    )
    task = script("groovy", "n = n + 1\nexecution.setVariable('z', n)")
    process, _ = compiled(one_task(task.replace("<script>", inside)), tmp_path)
    (run,) = engine.run_many([request(process, {"x": 2})])
    assert variables(run) == {"x": 2, "y": 20, "z": 3}


def test_a_form_property_of_flowable_may_name_its_variable(
    engine: LocalEngine, tmp_path: Path
) -> None:
    task = (
        '<userTask id="t" name="Work"><extensionElements><flowable:formProperty id="amount" '
        'name="Amount" type="long" variable="wanted"/></extensionElements></userTask>'
    )
    process, _ = compiled(one_task(task), tmp_path)
    nodes = process.root.plan.workflow_graph.nodes.values()
    (start,) = (node.name for node in nodes if node.role == "trigger")
    answers = {"Work": [{"Amount": "5"}]}
    run = engine.run(process.root.workflow, start, answers=answers, data=True)
    found = variables(run)
    assert isinstance(found, dict), found
    assert found["wanted"] == 5
    assert "amount" not in found


IO = "<extensionElements>{}<zeebe:ioMapping>{}</zeebe:ioMapping></extensionElements>"
PARTS = (
    '<zeebe:output source="=order.ok" target="order.ok"/><zeebe:output source="=1" target="a.b.c"/>'
)
JOB = '<zeebe:taskDefinition type="x"/>'
PARTLY = (
    f'<receiveTask id="t" name="Work" messageRef="m">{IO.format("", PARTS)}</receiveTask>',
    f'<intermediateCatchEvent id="t" name="Work">{IO.format("", PARTS)}'
    '<messageEventDefinition messageRef="m"/></intermediateCatchEvent>',
    f'<serviceTask id="t" name="Work">{IO.format(JOB, PARTS)}</serviceTask>',
)


@pytest.mark.parametrize("task", PARTLY)
def test_targets_of_mappings_may_be_parts(engine: LocalEngine, tmp_path: Path, task: str) -> None:
    """Of Camunda 8: what else the variable of the process has stays, whatever a message or job
    hands on under its name; what is no object gives way."""
    text = one_task(task).replace("<process", '<message id="m" name="M"/><process', 1)
    process, ctx = compiled(text, tmp_path)
    assert not [d for d in ctx.diagnostics if "mapping" in d.message]
    given: list[dict[str, Any]] = [{"order": {"ok": True, "by": "kim"}}]
    stubs = {"Work": {"visits": given, "mode": "replace"}} if "service" in task else None
    request = RunRequest(
        process.root.workflow, "Start", items=[{"json": {"order": {"id": 1, "ok": 0}, "a": 5}}],
        stubs=stubs, answers=None if stubs else {"Work": given}, data=True,
    )  # fmt: skip
    (run,) = engine.run_many([request])
    found = variables(run)
    assert isinstance(found, dict), found
    assert (found["order"], found["a"]) == ({"id": 1, "ok": True}, {"b": {"c": 1}})


def test_what_a_job_is_given_may_be_made_of_parts(engine: LocalEngine, tmp_path: Path) -> None:
    """Nothing of a variable of the process with the same name is in it."""
    inputs = (
        '<zeebe:input source="=x" target="order.x"/><zeebe:input source="=2" target="order.y"/>'
    )
    task = f'<serviceTask id="t" name="Work">{IO.format(JOB, inputs)}</serviceTask>'
    process, _ = compiled(one_task(task), tmp_path)
    (run,) = engine.run_many([request(process, {"x": 1, "order": {"id": 1}})])
    (node,) = [n for n in run.order if n.node == "Work inputs"]
    assert node.items is not None
    assert node.items[0][0]["order"] == {"x": 1, "y": 2}


def test_mappings_of_what_waits_that_are_not_understood_are_named(tmp_path: Path) -> None:
    for task in PARTLY[:2]:
        text = one_task(task.replace("a.b.c", "a..c").replace("=1", "=1 +"))
        _, ctx = compiled(text, tmp_path)
        (found,) = [d for d in ctx.diagnostics if d.code == "OF404"]
        assert "the output mappings of `Work`" in found.message


def test_mappings_of_a_message_that_starts(engine: LocalEngine, tmp_path: Path) -> None:
    """Of Camunda 8: nothing else of the message is known in the process."""
    outputs = (
        '<zeebe:output source="=order.id" target="id"/><zeebe:output source="=x * 2" target="a.b"/>'
    )
    text = one_task('<task id="t" name="Work"/>').replace(
        '<startEvent id="s"/>',
        f'<startEvent id="s" name="Ordered">{IO.format("", outputs)}'
        '<messageEventDefinition messageRef="m"/></startEvent>',
    )
    process, ctx = compiled(
        text.replace("<process", '<message id="m" name="M"/><process'), tmp_path
    )
    assert not [d for d in ctx.diagnostics if d.code == "OF404"]
    items = [{"json": {"body": {"order": {"id": 7}, "x": 2, "secret": 1}}}]
    (run,) = engine.run_many([RunRequest(process.root.workflow, "Ordered", items=items, data=True)])
    assert variables(run) == {"id": 7, "a": {"b": 4}}


def of_events(start: str, catch: str, throw: str, end: str) -> str:
    """A timer in a loop that ends at n = 3, then an event without a trigger, and the end, each with
    its mappings."""
    return (
        f'{HEAD}<startEvent id="s">{start}</startEvent><exclusiveGateway id="j"/>'
        f'<intermediateCatchEvent id="w" name="Pause">{catch}<timerEventDefinition><timeDuration>'
        "PT0S</timeDuration></timerEventDefinition></intermediateCatchEvent>"
        '<exclusiveGateway id="g" default="f4"/>'
        f'<intermediateThrowEvent id="t" name="Paused">{throw}'
        f'</intermediateThrowEvent><endEvent id="e" name="Done">{end}</endEvent>'
        '<sequenceFlow id="f0" sourceRef="s" targetRef="j"/>'
        '<sequenceFlow id="f1" sourceRef="j" targetRef="w"/>'
        '<sequenceFlow id="f2" sourceRef="w" targetRef="g"/>'
        '<sequenceFlow id="f3" sourceRef="g" targetRef="j"><conditionExpression>=n &lt; 3'
        "</conditionExpression></sequenceFlow>"
        '<sequenceFlow id="f4" sourceRef="g" targetRef="t"/>'
        '<sequenceFlow id="f5" sourceRef="t" targetRef="e"/></process></definitions>'
    )


def test_mappings_of_events_that_receive_nothing(engine: LocalEngine, tmp_path: Path) -> None:
    """Outputs set variables of the process; inputs are those of the event alone."""
    text = of_events(
        IO.format("", '<zeebe:output source="=if is defined(n) then n else 0" target="n"/>'),
        IO.format("", '<zeebe:output source="=n + 1" target="n"/>'),
        IO.format(
            "",
            '<zeebe:input source="=10" target="own"/>'
            '<zeebe:output source="=own * n" target="total"/>',
        ),
        IO.format("", '<zeebe:output source="=total + 1" target="last"/>'),
    )
    process, ctx = compiled(text, tmp_path)
    assert [d.message for d in ctx.diagnostics if d.code in ("OF404", "OF408", "OF502")] == []
    lowered = [d.message for d in ctx.diagnostics if d.code == "OF401"]
    assert sum("mappings of" in message for message in lowered) == 4
    for given, total in (({}, 30), ({"n": 7}, 80)):
        (run,) = engine.run_many([request(process, given)])
        after = variables(run)
        assert isinstance(after, dict)
        assert (after["n"], after["total"], after["last"]) == (total // 10, total, total + 1)
        assert "own" not in after


def test_mappings_of_events_that_are_not_understood_are_reported(tmp_path: Path) -> None:
    """A timer may read what its input mapping sets, and a mapping may not be an expression."""
    both = IO.format(
        "", '<zeebe:input source="=1" target="a"/><zeebe:output source="=a" target="b"/>'
    )
    wrong = IO.format("", '<zeebe:output source="=1 +" target="b"/>')
    for catch, reason in ((both, "may read its inputs"), (wrong, "ends too early")):
        _, ctx = compiled(of_events("", catch, "", ""), tmp_path)
        (found,) = [d.message for d in ctx.diagnostics if d.code == "OF404"]
        assert "the output mappings of `Pause`" in found
        assert reason in found


CATCHES = (
    '<boundaryEvent id="b" name="Trouble" attachedToRef="t"><errorEventDefinition {}/>'
    '</boundaryEvent><sequenceFlow id="g" sourceRef="b" targetRef="w"/>'
    '<exclusiveGateway id="w" default="n"/>'
    '<sequenceFlow id="y" sourceRef="w" targetRef="e1"><conditionExpression>'
    "${{code == 'BIG' and text == 'it is 4'}}</conditionExpression></sequenceFlow>"
    '<endEvent id="e1" name="Known"/>'
    '<sequenceFlow id="n" sourceRef="w" targetRef="e2"/><endEvent id="e2" name="Unknown"/>'
)
OF_ERRORS = (
    # of the event, the error that is thrown, where the run ends
    ('camunda:errorCodeVariable="code" camunda:errorMessageVariable="text"',
     "new BpmnError('BIG', 'it is ' + x)", "Known"),
    ('errorRef="E1" camunda:errorCodeVariable="code" camunda:errorMessageVariable="text"',
     "new BpmnError('BIG', 'it is 4')", "Known"),
    ('camunda:errorCodeVariable="code" camunda:errorMessageVariable="text"',
     "new BpmnError('BIG')", "Unknown"),
    ('camunda:errorCodeVariable="code" camunda:errorMessageVariable="text"',
     "new BpmnError('BIGGER', 'it is 4')", "Unknown"),
)  # fmt: skip


@pytest.mark.parametrize(("event", "thrown", "end"), OF_ERRORS)
def test_variables_for_parts_of_an_error(
    engine: LocalEngine, tmp_path: Path, event: str, thrown: str, end: str
) -> None:
    task = script("groovy", f"if (x > 3) throw {thrown}") + CATCHES.format(event)
    error = '<error id="E1" errorCode="BIG"/></definitions>'
    process, ctx = compiled(one_task(task).replace("</definitions>", error), tmp_path)
    assert not [d for d in ctx.diagnostics if d.code == "OF404"]
    (run,) = engine.run_many([request(process, {"x": 4})])
    assert run.status == "success", run.error
    assert run.order[-1].node == end


def test_what_comes_with_an_error_is_not_known(tmp_path: Path) -> None:
    mapped = IO.format("", '<zeebe:output source="=why" target="reason"/>')
    event = CATCHES.format("").replace("<errorEvent", f"{mapped}<errorEvent")
    inside = f"<extensionElements>{JOB}</extensionElements>"
    task = f'<serviceTask id="t" name="Work">{inside}</serviceTask>'
    _, ctx = compiled(one_task(task + event), tmp_path)
    assert [d for d in ctx.diagnostics if "the data of an error other than its code" in d.message]


def test_lists_and_maps_of_parameters(engine: LocalEngine, tmp_path: Path) -> None:
    """Of Camunda 7: their entries are texts or expressions."""
    given = (
        '<camunda:inputParameter name="xs"><camunda:list><camunda:value>a</camunda:value>'
        "<camunda:value>${b}</camunda:value></camunda:list></camunda:inputParameter>"
        '<camunda:inputParameter name="m"><camunda:map><camunda:entry key="k">v: w</camunda:entry>'
        '<camunda:entry key="j k">no ${b}</camunda:entry></camunda:map></camunda:inputParameter>'
        '<camunda:inputParameter name="none"><camunda:list/></camunda:inputParameter>'
    )
    taken = (
        '<camunda:outputParameter name="y"><camunda:list><camunda:value>${b + 1}</camunda:value>'
        "</camunda:list></camunda:outputParameter>"
    )
    process, ctx = compiled(one_task(mapped(given, taken)), tmp_path)
    assert not [d for d in ctx.diagnostics if "mapping" in d.message]
    (run,) = engine.run_many([request(process, {"b": 2})])
    found = variables(run)
    assert isinstance(found, dict), found
    assert found["y"] == [3]
    (node,) = [n for n in run.order if n.node == "Work inputs"]
    assert node.items is not None
    item = node.items[0][0]
    assert (item["xs"], item["m"], item["none"]) == (["a", 2], {"k": "v: w", "j k": "no 2"}, [])


NESTED: tuple[tuple[str, Any], ...] = (
    ("<camunda:list><camunda:list><camunda:value>a</camunda:value></camunda:list></camunda:list>",
     [["a"]]),
    ("<camunda:list><camunda:value>a\nb</camunda:value></camunda:list>", ["a\nb"]),
    ("<camunda:list><camunda:value/></camunda:list>", [None]),
    ('<camunda:map><camunda:entry key="a: b">c ${b}</camunda:entry></camunda:map>',
     {"a: b": "c 2"}),
    ('<camunda:map><camunda:entry key="a"><camunda:script scriptFormat="groovy">def c = b + 1\n'
     "[c, c * b]</camunda:script></camunda:entry></camunda:map>", {"a": [3, 6]}),
    ('<camunda:map><camunda:entry key="a"><camunda:map><camunda:entry key="k"><camunda:list/>'
     "</camunda:entry></camunda:map></camunda:entry></camunda:map>", {"a": {"k": []}}),
    ('<camunda:script scriptFormat="groovy">def o = order; o.n</camunda:script>', 7),
)  # fmt: skip


def test_lists_and_maps_of_more_than_texts(engine: LocalEngine, tmp_path: Path) -> None:
    """Of Camunda 7; a value without a text is null."""
    requests = []
    for value, _ in NESTED:
        given = f'<camunda:inputParameter name="xs">{value}</camunda:inputParameter>'
        process, ctx = compiled(one_task(mapped(given, out("y", "${xs}"))), tmp_path)
        assert [d.message for d in ctx.diagnostics if "mapping" in d.message] == []
        requests.append(request(process, {"b": 2, "order": {"n": 7}}))
    found = [variables(run) for run in engine.run_many(requests)]
    assert [one["y"] if isinstance(one, dict) else one for one in found] == [y for _, y in NESTED]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ('<camunda:map><camunda:entry key="__proto__">c</camunda:entry></camunda:map>',
         "`__proto__: c` is no entry"),
        ('<camunda:map><camunda:entry key="${k}"><camunda:list/></camunda:entry></camunda:map>',
         "the key `${k}` is not supported"),
        ('<camunda:list><camunda:script scriptFormat="groovy" resource="a.groovy"/></camunda:list>',
         "a script in its own file is not supported"),
        ('<camunda:script scriptFormat="groovy">order.n = 1; order</camunda:script>',
         "only scripts that compute a value are supported here"),
    ],
)  # fmt: skip
def test_lists_and_maps_that_are_not_understood_are_named(
    tmp_path: Path, value: str, reason: str
) -> None:
    given = f'<camunda:inputParameter name="xs">{value}</camunda:inputParameter>'
    _, ctx = compiled(one_task(mapped(given, "")), tmp_path)
    (found,) = [d for d in ctx.diagnostics if d.code == "OF404"]
    assert "input mappings" in found.message
    assert reason in found.message
