"""Code that fails in every run: n8n's engine decides, and `check` has to agree in each case.

Code of the first table fails on the engine, and `check` reports it; code of the second works there
and is not reported. Programs that JavaScript refuses are compared with V8, on programs drawn by
seed.
"""

from __future__ import annotations

import json
import random
import subprocess

import pytest
from n8n_linted import Json, T, flow, linted, node
from orgflow.backends.javascript.script_names import read_script_names
from orgflow.backends.javascript.source_programs import find_syntax_fault
from orgflow.backends.n8n.engine.local import LocalEngine

SEED = 61
EACH = "runOnceForEachItem"
REPORTED = {"N8N111", "N8N112", "N8N113", "N8N122", "N8N123"}

FAILING = (
    'return "done";',
    "return 5;",
    "return true;",
    "return `x${$json.a}`;",
    "return [1, 2, 3];",
    'return ["a"];',
    "return [[{ json: {} }]];",
    "return [null];",
    'const text = "done";\nreturn text;',
    "return JSON.stringify($input.all());",
    "return items.length;",
    "return $input.all().length > 0;",
    "return items.map(item => { item.json.a = 1 });",
    "return items.map(item => { item.json.a });",
    "return $input.all().map((item) => item.json.a + 1);",
    "return $input.all().map(function (item) { return item.json.a + 'x' });",
    "return items.forEach(item => { item.json.a = 1 });",
    "return Object.keys(items[0].json);",
    "return items.map(i => i.json.a + '').join(',');",
    "return $input.all().reduce((sum, item) => sum + item.json.a, 0);",
    'return [{ json: "x" }];',
    "return [{ json: [1] }];",
    "return { json: [1] };",
    "return [{ json: {}, total: 1 }];",
    "return items.map(item => ({ json: item.json, total: item.json.a }));",
    "return () => [];",
    "function total() { return 5 }\nreturn total();",
    "return (() => 'x')();",
    "return await (async () => 5)();",
    "return await Promise.all(items.map(async (item) => item.json.a + 1));",
    "return new Date();",
    "return undefined;",
    "return typeof items;",
    "return items.filter(i => i.json.a).map(i => `${i.json.a}`);",
    "return $json.a ? 'yes' : 'no';",
    "if ($json.a) { return 'yes' }\nreturn 'no';",
    "function f() { await g(); }\nreturn [];",
    "function f() { return await (g()); }\nreturn [{ json: { a: f() } }];",
    "return await (items.length);",
    "const f = () => { await 1 };\nreturn [];",
    "items.forEach(item => { await 1 });\nreturn [];",
    "class A { m() { await 1 } }\nreturn [];",
    "function f() { for await (const a of []) {} }\nreturn [];",
    "const a = 1;\nconst a = 2;\nreturn [];",
    "let a;\nvar a;\nreturn [];",
    "const f = (a) => { const a = 1 };\nreturn [];",
    "class A {}\nlet A;\nreturn [];",
    "let a;\n{ var a }\nreturn [];",
    "const { a, b: a } = {};\nreturn [];",
    "try {} catch (e) { let e }\nreturn [];",
    "const a;\nreturn [];",
    "import fs from 'fs';\nreturn [];",
    "export const a = 1;\nreturn [];",
    "return itemz.map(i => i);",
    "return [{ json: { total } }];",
    "return items.map(item => ({ json: { a: itm.json.a } }));",
    "if (true) { const a = 1 }\nreturn [{ json: { a } }];",
    "for (const item of items) { var b = 1 }\nreturn [{ json: { item: item.json } }];",
    "return [{ json: { a: $jsn.a } }];",
    "return [{ json: { a: await fetch('http://x') } }];",
    "return [{ json: { a: window.name } }];",
    "const total = totl + 1;\nreturn [];",
)
"""Code that n8n runs once with all items, and that fails."""

FAILING_EACH = (
    "return [{ json: { a: 1 } }];",
    "return [];",
    "return items;",
    "return 'x';",
    "return 5;",
    "return { json: [1] };",
    "return { json: 'x' };",
    "return { json: itm.json };",
)

WORKING = (
    "return [];",
    "return null ?? [];",
    "return items;",
    "return $input.all();",
    "return { a: 1 };",
    "return { json: { a: 1 } };",
    "return [{ a: 1 }];",
    "return [{ json: {}, pairedItem: 0 }];",
    "return items.map(item => { item.json.a = 1; return item });",
    "return items.map(item => ({ json: item.json }));",
    "return items.map(item => item.json);",
    "return items.flatMap(item => [{ json: item.json }]);",
    "return items.filter(item => item.json.a > 0);",
    "return Object.entries($json).map(([name, value]) => ({ json: { name, value } }));",
    "const list = [];\nfor (const item of items) list.push({ json: item.json });\nreturn list;",
    "let list = 5;\nlist = [];\nreturn list;",
    "return await Promise.all(items.map(async (item) => ({ json: item.json })));",
    "const out = { json: 1 };\nout.json = {};\nreturn [out];",
    "function each(item) { return item }\nreturn items.map(each);",
    "var a = 1;\nvar a = 2;\nreturn [];",
    "function f() {}\nfunction f() {}\nreturn [];",
    "const a = 1;\n{ const a = 2 }\nreturn [];",
    "const f = function f() {};\nreturn [];",
    "for (let i = 0; i < 1; i++) { let i = 2 }\nreturn [];",
    "try { JSON.parse('{') } catch (e) { var e }\nreturn [];",
    "const items = $input.all();\nreturn items;",
    "const f = async () => { await 1 };\nawait f();\nreturn [];",
    "for await (const a of []) {}\nreturn [];",
    "total = 1;\nreturn [{ json: { total } }];",
    "for (key in { a: 1 }) {}\nreturn [{ json: { key } }];",
    "return [{ json: { known: typeof fetch === 'undefined' ? 1 : fetch } }];",
    "return [{ json: { a: later() } }];\nfunction later() { return 1 }",
    "{ function inner() { return 1 } }\nreturn [{ json: { a: inner() } }];",
    "const { a, ...rest } = { a: 1 };\nconst [b = a] = [];\nreturn [{ json: { a, b, rest } }];",
    "class A { static make() { return new A() } }\nA.make();\nreturn [];",
    "outer: for (const a of [1]) { continue outer }\nreturn [];",
    "const f = (a, { b } = {}, ...c) => [a, b, c, arguments];\nreturn [];",
    "return [{ json: { a: DateTime.now().toISO(), b: Buffer.from('x').toString('base64') } }];",
    "const data = $getWorkflowStaticData('global');\nreturn [{ json: { data: Math.max(1, 2) } }];",
    "setTimeout(() => {}, 0);\nconsole.log($now, $today, $workflow.name);\nreturn [];",
)
"""Code that n8n runs once with all items, and that works."""

WORKING_EACH = (
    "return item;",
    "return $input.item;",
    "return { a: 1 };",
    "return { json: { a: $json.a } };",
)

CASES = {
    **{f"{code!r}": (code, "", True) for code in FAILING},
    **{f"each {code!r}": (code, EACH, True) for code in FAILING_EACH},
    **{f"{code!r} works": (code, "", False) for code in WORKING},
    **{f"each {code!r} works": (code, EACH, False) for code in WORKING_EACH},
}


def code_flow(code: str, mode: str = "", **more: object) -> Json:
    parameters: Json = {"jsCode": code, **({"mode": mode} if mode else {}), **more}
    source = node("S", "set", {"mode": "raw", "jsonOutput": '{"a": 1}'})
    return flow([T, source, node("X", "code", parameters)], "T > S, S > X")


def list_code_findings(workflow: Json) -> list[tuple[str, str]]:
    return [(d.code, d.severity.value) for d in linted(workflow) if d.code in REPORTED]


@pytest.mark.parametrize("name", CASES)
def test_check_agrees_with_the_engine(name: str, engine: LocalEngine) -> None:
    code, mode, fails = CASES[name]
    workflow = code_flow(code, mode)
    run = engine.run(workflow, "T", data=True)
    assert (run.status != "success") == fails, run.error
    assert bool(list_code_findings(workflow)) == fails


@pytest.mark.parametrize(
    ("code", "severity"),
    [
        ("return itemz;", "error"),
        ("if ($json.a) { return itemz }\nreturn [];", "warning"),
        ("if ($json.a) { return 'x' }\nreturn [];", "warning"),
        ("try { itemz() } catch (e) {}\nreturn [];", "warning"),
        ("return [{ json: { a: new URL('http://x').host } }];", "warning"),
    ],
)
def test_what_does_not_fail_in_every_run_is_a_warning(code: str, severity: str) -> None:
    assert [shown for _, shown in list_code_findings(code_flow(code))] == [severity]


def test_no_result_for_an_item_is_not_reported() -> None:
    """n8n's runner drops an item if the code returns null or nothing for it."""
    for code in ("return null;", "if ($json.a) { return null }\nreturn item;"):
        assert list_code_findings(code_flow(code, EACH)) == []


@pytest.mark.parametrize(
    ("code", "mode", "codes"),
    [
        ("return 5", "", {"N8N122"}),
        ('return "done"', "", {"N8N122"}),
        ("return [1, 2]", "", {"N8N122"}),
        ("return [str(i) for i in _items]", "", {"N8N122"}),
        ("total = len(_items)\nreturn total", "", {"N8N122"}),
        ("return [{'json': 'x'}]", "", {"N8N122"}),
        ("return [{'json': {}}]", EACH, {"N8N122"}),
        ("total = 1", "", {"N8N112"}),
        ("return itemz", "", {"N8N123"}),
        ("return [{'json': {'a': totl}} for i in _items]", "", {"N8N123"}),
        ("return _items", "", set()),
        ("return [{'json': {'a': 1}}]", "", set()),
        ("out = []\nfor i in _items:\n    out.append(i)\nreturn out", "", set()),
        ("import json as j\nreturn [{'json': j.loads('{}')}]", "", set()),
        ("def f(a, *b, c=1, **d):\n    return a\nreturn [f(i) for i in _items]", "", set()),
        ("try:\n    x = 1\nexcept ValueError as e:\n    print(e)\nreturn []", "", set()),
        ("return _item", EACH, set()),
        ("return None", EACH, set()),
        ("return {'json': {'n': len(_item)}}", EACH, set()),
        ("with open('x') as f:\n    pass\nreturn []", "", set()),
        ("return list(map(lambda i: i, _items))", "", set()),
    ],
)
def test_python(code: str, mode: str, codes: set[str]) -> None:
    """By the text of n8n's runner of Python, which is a program of its own."""
    parameters: Json = {"language": "pythonNative", "pythonCode": code}
    parameters |= {"mode": mode} if mode else {}
    workflow = flow([T, node("X", "code", parameters)], "T > X")
    assert {reported for reported, _ in list_code_findings(workflow)} == codes


# -- programs that JavaScript refuses --------------------------------------------------------------


def draw_program(rng: random.Random, depth: int = 0) -> str:
    """Statements that declare few names often, and wait in functions of all kinds."""
    name = rng.choice("abc")
    inner = draw_program(rng, depth + 1) if depth < 3 else ";"
    statement = rng.choice([
        f"let {name} = 1;", f"const {name} = 1;", f"var {name} = 1;", f"class {name} {{}}",
        f"var {{ x: {name} }} = {{}};", f"let [{name}] = [1];",
        f"function {name}() {{ {inner} }}", f"async function {name}() {{ {inner} }}",
        f"{{ {inner} }}", f"if (1) {{ {inner} }}", f"for (let {name} of []) {{ {inner} }}",
        f"for (var {name} = 0; {name} < 0;) {{ {inner} }}", "await 1;",
        f"try {{ {inner} }} catch ({name}) {{ {inner} }}", f"x = ({name}) => {{ {inner} }};",
        f"x = async ({name}) => {{ {inner} }};", f"x = class {{ {name}() {{ {inner} }} }};",
        f"switch (1) {{ case 1: {inner} }}", f"x = function {name}() {{ {inner} }};",
    ])  # fmt: skip
    return statement + (draw_program(rng, depth) if rng.random() < 0.4 else "")


def test_programs_that_are_refused_are_those_that_v8_refuses() -> None:
    rng = random.Random(SEED)
    programs = [draw_program(rng) for _ in range(2_000)]
    script = (
        "const vm = require('node:vm');"
        "const programs = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));"
        "console.log(JSON.stringify(programs.map((code) => {"
        "try { new vm.Script(`(async function () {${code}\\n})`); return true }"
        "catch (error) { return false } })));"
    )
    output = subprocess.run(
        ["node", "-e", script],
        input=json.dumps(programs),
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    accepted = json.loads(output.stdout)
    wrong = []
    for program, valid in zip(programs, accepted, strict=True):
        names = read_script_names(program)
        refused = find_syntax_fault(program) is not None or (
            names is not None and names.fault is not None
        )
        if refused == valid:
            wrong.append((program, valid))
    assert wrong == []
    assert 400 < sum(accepted) < 1_600
