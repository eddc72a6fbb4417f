"""FEEL and decisions as JavaScript: the evaluator is the referee, in Node and on n8n's engine."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from engine_fixture import START, flow, node, reads
from feel_random import VALUES, differences, expression
from orgflow.backends.javascript.decision_runtime_code import decision_code
from orgflow.backends.javascript.exact_code import print_with_runtime
from orgflow.backends.javascript.feel_runtime import _read_blocks, list_definitions
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.format.expressions import read_code, read_parameter
from orgflow.evaluation.dmn_kit import (
    case_program,
    read_suite,
    run_javascript,
    suite_folders,
    suite_name,
)
from orgflow.frontends.dmn.dmn_reader import read_dmn
from shared_data import shared_cases, shared_data

from orgflow_ir.decisions.evaluate import decide, decide_json
from orgflow_ir.decisions.link import link
from orgflow_ir.languages.feel.parser import parse_expression
from orgflow_ir.program.feel.conversion_functions import text_of
from orgflow_ir.program.feel.signatures import SIGNATURES
from orgflow_ir.program.feel.values import Unsupported, import_value
from orgflow_ir.program.structure_evaluation import evaluate


def sampled_suites(kit: Path) -> list[Path]:
    """A quarter of the suites; `benchmarks/dmn_tck.py` runs all."""
    return suite_folders(kit)[::4]


def compiled(text: str, *names: str) -> str:
    """The translation of an expression whose variables are properties of the item."""
    tree = parse_expression(text, names)
    return print_with_runtime(tree, lambda n: f"$json[{json.dumps(n)}]" if n in names else None)


def in_node(texts: Mapping[str, str], item: dict[str, Any]) -> dict[str, Any]:
    programs = [
        f"const $json = {json.dumps(item)};\nreturn JSON.stringify({code});"
        for code in texts.values()
    ]
    found = run_javascript(programs)
    assert {kind for kind, _ in found} == {"value"}, found
    return {name: json.loads(value) for name, (_, value) in zip(texts, found, strict=True)}


def test_the_kit_is_there(shared: Path) -> None:
    assert (shared / "data" / "dmn-tck").is_dir()


@pytest.mark.parametrize("folder", shared_cases(sampled_suites, "dmn-tck"), ids=suite_name)
def test_kit(folder: Path) -> None:
    suite = read_suite(folder, int(folder.parent.name[-1]))
    programs, expected = [], []
    for case in suite.cases:
        programs.append(case_program(suite.model, case))
        expected.append(("value", text_of(decide(suite.model, case.node, case.given))))
    assert run_javascript(programs) == expected


@pytest.mark.parametrize("seed", range(4))
def test_random_expressions(seed: int) -> None:
    rng = random.Random(seed)
    wrong, count = differences([expression(rng) for _ in range(250)])
    assert count == 250
    assert wrong == []


ITEM = {"x": 12, "name": "Bo", "rows": [{"p": 1}, {"p": 2.5}], "first name": "A", "none": None}
EXPRESSIONS = {
    "x > 10": True,
    '"}}" + name + "{{"': "}}Bo{{",
    "0.1 + 0.2": 0.3,
    "sum(rows.p)": 3.5,
    "rows[p > 1]": [{"p": 2.5}],
    "for i in 1..3 return i * x": [12, 24, 36],
    "sort([3, 1, 2], function(a, b) a < b)": [1, 2, 3],
    'date and time("2024-07-01T12:00:00@Europe/Paris").time offset': "PT2H",
    'replace("abc", "(b)", "[$1]")': "a[b]c",
    "none": None,
    "missing": None,
    "x.constructor": None,
    '{constructor: 1, "__proto__": 2}': {"constructor": 1, "__proto__": 2},
    '".constructor"': ".constructor",
    "[1..x]": "[1..12]",
    "first name": "A",
    "string(2 ** 70)": "1180591620717411303424",
    '@"2024-01-31" + @"P1M"': "2024-02-29",
    "x in (< 5, > 10) and x between 1 and 20": True,
    "exp(1) + log(10) + sqrt(2)": 6.435080483826186,
    "some r in rows satisfies r.p = 1": True,
}


def test_values_come_from_json_and_go_to_it() -> None:
    codes = {text: compiled(text, *ITEM) for text in EXPRESSIONS}
    assert in_node(codes, ITEM) == EXPRESSIONS


def test_expressions_on_the_engine(engine: LocalEngine) -> None:
    fields = {f"e{at}": compiled(text, *ITEM) for at, text in enumerate(EXPRESSIONS)}
    run = engine.run(flow([START, reads("R", **fields)], "T>R"), "T", items=[{"json": ITEM}])
    assert run.status == "success", run.error
    ((found,),) = run.output
    assert [json.loads(found[name]) for name in fields] == list(EXPRESSIONS.values())


@pytest.mark.slow
def test_a_sample_of_the_kit_on_the_engine(engine: LocalEngine) -> None:
    fields, expected = {}, {}
    for folder in sampled_suites(shared_data("dmn-tck")):
        suite = read_suite(folder, int(folder.parent.name[-1]))
        for at, case in enumerate(suite.cases[::8]):
            name = f"{suite.name[:4]}_{at}"
            program = case_program(suite.model, case)
            fields[f"k{name}"] = f"(() => {{\n{program}\n}})()"
            expected[f"k{name}"] = text_of(decide(suite.model, case.node, case.given))
    assert all("}}" not in code for code in fields.values())
    assert len(fields) > 40
    run = engine.run(flow([START, reads("R", **fields)], "T>R"), "T")
    assert run.status == "success", run.error
    ((found,),) = run.output
    assert {name: json.loads(found[name]) for name in fields} == expected


DECISION = """
<definitions xmlns="https://www.omg.org/spec/DMN/20230324/MODEL/" name="m" namespace="urn:m">
  <itemDefinition name="tLevel"><typeRef>string</typeRef>
    <allowedValues><text>"low", "high"</text></allowedValues></itemDefinition>
  <inputData id="a" name="Due Date"><variable name="Due Date" typeRef="date"/></inputData>
  <inputData id="b" name="amount"><variable name="amount" typeRef="number"/></inputData>
  <decision id="r" name="Risk"><variable name="Risk" typeRef="tLevel"/>
    <informationRequirement><requiredInput href="#b"/></informationRequirement>
    <decisionTable hitPolicy="FIRST"><input><inputExpression><text>amount</text>
      </inputExpression></input><output/>
      <rule><inputEntry><text>&gt; 1000</text></inputEntry>
        <outputEntry><text>"high"</text></outputEntry></rule>
      <rule><inputEntry><text>-</text></inputEntry>
        <outputEntry><text>"low"</text></outputEntry></rule></decisionTable></decision>
  <businessKnowledgeModel id="f" name="later"><encapsulatedLogic>
    <formalParameter name="d" typeRef="date"/>
    <literalExpression><text>d + @"P1M"</text></literalExpression>
    </encapsulatedLogic></businessKnowledgeModel>
  <decision id="d" name="Result">
    <informationRequirement><requiredDecision href="#r"/></informationRequirement>
    <informationRequirement><requiredInput href="#a"/></informationRequirement>
    <knowledgeRequirement><requiredKnowledge href="#f"/></knowledgeRequirement>
    <context><contextEntry><variable name="risk"/>
      <literalExpression><text>Risk</text></literalExpression></contextEntry>
      <contextEntry><variable name="due"/>
      <literalExpression><text>later(Due Date)</text></literalExpression></contextEntry>
    </context></decision>
</definitions>
"""


def test_a_decision_in_a_code_node(engine: LocalEngine) -> None:
    code = decision_code(link(read_dmn(DECISION.encode())), "Result")
    code += "\nreturn $input.all().map((item) => ({ json: decision(item.json) }));"
    workflow = flow([START, node("C", "code", 2, {"jsCode": code})], "T>C")
    items = [
        {"json": {"Due Date": "2024-01-31", "amount": 1000.01}},
        {"json": {"Due Date": "no date", "amount": "x"}},
    ]
    run = engine.run(workflow, "T", items=items)
    assert run.status == "success", run.error
    (found,) = run.output
    assert list(found) == [
        {"risk": "high", "due": "2024-02-29"},
        {"risk": "low", "due": None},
    ]


VALUES_OF_JSON = (
    1, 1000, 1000.5, "x", "2024-01-31", "2024-02-30", "10:00:00", None, True, [1], ["2024-01-31"],
    [], {"a": 1}, 1e300, 0.1,
)  # fmt: skip


def test_a_decision_gives_in_node_what_the_evaluator_gives() -> None:
    model = link(read_dmn(DECISION.encode()))
    items = [
        {"Due Date": due, "amount": amount} for due in VALUES_OF_JSON for amount in VALUES_OF_JSON
    ]
    code = decision_code(model, "Result")
    (found,) = run_javascript([f"{code}\nreturn {json.dumps(items)}.map(decision);"])
    assert found == ("value", [decide_json(model, "Result", item) for item in items])


def test_the_same_bytes_for_the_same_decision() -> None:
    codes = {decision_code(link(read_dmn(DECISION.encode())), "Result") for _ in range(3)}
    assert len(codes) == 1


def test_only_what_is_needed_is_emitted() -> None:
    plain = compiled("x > 10", "x")
    assert len(plain) < 5_000
    assert not any(word in plain for word in ("Intl", "RegExp", "parseDate", "f_sum_"))
    assert "Intl" in compiled('time("10:30:00Z")')
    assert "} }" not in compiled('"} }"').replace('"} }"', "")


def test_an_expression_is_whole_where_it_stands() -> None:
    for text in EXPRESSIONS:
        code = compiled(text, *ITEM)
        assert "}}" not in code
        reading = read_parameter("={{ " + code + " }}")
        assert (reading.faults, reading.references) == ((), ())


def test_no_text_of_a_source_becomes_code() -> None:
    texts = ['x"); process.exit(1); ("', "\u2028alert(1)", "`${1}`", "\\", "</script>", "}}", "*/"]
    codes = {text: compiled(json.dumps(text, ensure_ascii=False)) for text in texts[:1] + texts[2:]}
    assert list(in_node(codes, {}).values()) == list(codes)
    tree = parse_expression('{"); process.exit(1); (": 1}')
    assert in_node({"a": print_with_runtime(tree, lambda _: None)}, {})["a"] == {
        "); process.exit(1); (": 1
    }


@pytest.mark.parametrize("name", sorted(list_definitions()))
def test_each_definition_can_be_read_as_n8n_cuts_expressions(name: str) -> None:
    body, _ = _read_blocks()[name]
    assert read_code(body).faults == ()


def test_every_function_has_an_implementation() -> None:
    needed = {f"f_{s.implementation}" for signatures in SIGNATURES.values() for s in signatures}
    assert needed <= list_definitions()


def test_what_is_not_translated_is_refused() -> None:
    tree = parse_expression('function(x) external {java: {class: "a", method signature: "b()"}}')
    with pytest.raises(Unsupported, match="an external function"):
        print_with_runtime(tree, lambda _: None)


def test_a_number_that_json_does_not_have_is_an_error() -> None:
    code = compiled("10 ** 400")
    assert run_javascript([f"return {code};"])[0] == (
        "error", "Error: FEEL: a number that JSON does not have",
    )  # fmt: skip


def test_values_that_tests_use_are_the_same_everywhere() -> None:
    values = {name: evaluate(parse_expression(text)) for name, text in VALUES.items()}
    assert import_value({"a": [1, 2], "d e": "x"}) == values["b c"]


@pytest.mark.parametrize("model", ["examples/order-to-cash/model.bpmn"])
def test_a_compile_without_decisions_loads_nothing_of_them(model: str) -> None:
    root = Path(__file__).resolve().parents[3]
    code = (
        "import sys, orgflow\n"
        f"orgflow.compile(orgflow.read({str(root / model)!r}), target='n8n')\n"
        "rooms = ('orgflow_ir.languages.feel.', 'orgflow_ir.decisions', "
        "'orgflow_ir.program.feel.', 'orgflow_ir.program.structure', 'orgflow_ir.program.exact_', "
        "'orgflow.backends.javascript.feel', 'orgflow.backends.javascript.decision', "
        "'orgflow.backends.javascript.exact_code', "
        "'orgflow.frontends.dmn.', 'zoneinfo')\n"
        "registered = {'orgflow.frontends.dmn.' + n for n in ('frontend', 'names', 'rules')}\n"
        "print([n for n in sys.modules if n.startswith(rooms) and n not in registered])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root
    )
    assert done.stdout.strip() == "[]"
