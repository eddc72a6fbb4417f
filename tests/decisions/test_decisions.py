"""Decisions read from DMN, linked and evaluated: the kit's cases, and what the kit has not."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from orgflow.evaluation.dmn_kit import read_suite, suite_folders, suite_name, values_agree
from orgflow.frontends.dmn.dmn_reader import NAMESPACES, DmnError, read_dmn
from shared_data import shared_cases

from orgflow_ir.decisions.evaluate import decide
from orgflow_ir.decisions.link import DecisionModel, link
from orgflow_ir.program.feel.values import Unsupported, Value, import_value

REFUSED = {"0076-feel-external-java": "an external function"}
"""Suites about what is not evaluated: the reason that every case gets."""


def test_the_kit_is_there(shared: Path) -> None:
    assert len(list((shared / "data" / "dmn-tck").glob("compliance-level-*/*"))) == 82


@pytest.mark.parametrize("folder", shared_cases(suite_folders, "dmn-tck"), ids=suite_name)
def test_kit(folder: Path) -> None:
    suite = read_suite(folder, int(folder.parent.name[-1]))
    assert suite.cases
    for case in suite.cases:
        if suite.name in REFUSED:
            with pytest.raises(Unsupported, match=REFUSED[suite.name]):
                decide(suite.model, case.node, case.given)
            continue
        found = decide(suite.model, case.node, case.given)
        if case.part:
            found = found[case.part]
        assert values_agree(found, case.expected), (case, found)


def model(body: str, namespace: str = "https://www.omg.org/spec/DMN/20230324/MODEL/") -> bytes:
    return (
        f'<definitions xmlns="{namespace}" name="test" namespace="urn:test">{body}</definitions>'
    ).encode()


def linked(body: str) -> DecisionModel:
    return link(read_dmn(model(body)))


def table(policy: str, rules: str, outputs: str = '<output name="o"/>') -> str:
    """A decision `d` by a table over the input `x`; rules are `test -> entry, entry`."""
    rows = ""
    for rule in rules.split("\n"):
        test, _, entries = rule.partition("->")
        cells = "".join(
            f"<outputEntry><text>{entry.strip()}</text></outputEntry>"
            for entry in entries.split(",")
        )
        rows += f"<rule><inputEntry><text>{test.strip()}</text></inputEntry>{cells}</rule>"
    return (
        '<inputData id="x" name="x"/><decision id="d" name="d"><informationRequirement>'
        '<requiredInput href="#x"/></informationRequirement>'
        f"<decisionTable {policy}><input><inputExpression><text>x</text></inputExpression></input>"
        f"{outputs}{rows}</decisionTable></decision>"
    )


def decided(body: str, **given: object) -> Value:
    found = linked(body)
    assert found.problems == ()
    return decide(found, "d", {name: import_value(value) for name, value in given.items()})


@pytest.mark.parametrize("namespace", sorted(NAMESPACES))
def test_every_version_is_read(namespace: str) -> None:
    found = read_dmn(model('<decision id="d" name="d"/>', namespace))
    assert [decision.id for decision in found.decisions] == ["d"]


PRIORITIES = '<output name="o"><outputValues><text>"high", "low"</text></outputValues></output>'


@pytest.mark.parametrize(
    ("policy", "rules", "outputs", "x", "value"),
    [
        ('hitPolicy="UNIQUE"', "&lt; 5 -> 1\n&gt; 3 -> 2", "", 2, 1),
        ('hitPolicy="UNIQUE"', "&lt; 5 -> 1\n&gt; 3 -> 2", "", 4, None),
        ('hitPolicy="FIRST"', "&lt; 5 -> 1\n&gt; 3 -> 2", "", 4, 1),
        ('hitPolicy="ANY"', "&lt; 5 -> 1\n&gt; 3 -> 1", "", 4, 1),
        ('hitPolicy="ANY"', "&lt; 5 -> 1\n&gt; 3 -> 2", "", 4, None),
        ('hitPolicy="PRIORITY"', '&lt; 5 -> "low"\n&gt; 3 -> "high"', PRIORITIES, 4, "high"),
        ('hitPolicy="OUTPUT ORDER"', '&lt; 5 -> "low"\n&gt; 3 -> "high"', PRIORITIES, 4,
         ["high", "low"]),
        ('hitPolicy="RULE ORDER"', "&lt; 5 -> 1\n&gt; 3 -> 2", "", 4, [1, 2]),
        ('hitPolicy="COLLECT"', "&lt; 5 -> 1\n&gt; 3 -> 2", "", 4, [1, 2]),
        ('hitPolicy="COLLECT" aggregation="SUM"', "&lt; 5 -> 1\n&gt; 3 -> 2", "", 4, 3),
        ('hitPolicy="COLLECT" aggregation="MIN"', "&lt; 5 -> 1\n&gt; 3 -> 2", "", 4, 1),
        ('hitPolicy="COLLECT" aggregation="MAX"', "&lt; 5 -> 1\n&gt; 3 -> 2", "", 4, 2),
        ('hitPolicy="COLLECT" aggregation="COUNT"', "&lt; 5 -> 1\n&gt; 3 -> 2", "", 4, 2),
        ('hitPolicy="COLLECT" aggregation="COUNT"', "&lt; 5 -> 1", "", 9, 0),
        ('hitPolicy="UNIQUE"', "&lt; 5 -> 1", "", 9, None),
        ('hitPolicy="UNIQUE"', "&lt; 5 -> 1",
         "<output><defaultOutputEntry><text>7</text></defaultOutputEntry></output>", 9, 7),
        ("", "not(1, 2) -> 1, 2", '<output name="a"/><output name="b c"/>', 3,
         {"a": 1, "b c": 2}),
    ],
)  # fmt: skip
def test_hit_policies(policy: str, rules: str, outputs: str, x: int, value: object) -> None:
    body = table(policy, rules, outputs or '<output name="o"/>')
    assert values_agree(decided(body, x=x), import_value(value))


def literal(text: str) -> str:
    return f"<literalExpression><text>{text}</text></literalExpression>"


@pytest.mark.parametrize(
    ("logic", "value"),
    [
        (f"<conditional><if>{literal('1 = 1')}</if><then>{literal('1')}</then>"
         f"<else>{literal('2')}</else></conditional>", 1),
        (f'<for iteratorVariable="i"><in>{literal("[1, 2]")}</in>'
         f"<return>{literal('i * 2')}</return></for>", [2, 4]),
        (f'<some iteratorVariable="i"><in>{literal("[1, 2]")}</in>'
         f"<satisfies>{literal('i = 2')}</satisfies></some>", True),
        (f"<filter><in>{literal('[{a b: 1}, {a b: 2}]')}</in>"
         f"<match>{literal('a b = 2')}</match></filter>", [{"a b": 2}]),
        (f'<relation><column name="a"/><column name="b"/><row>{literal("1")}{literal("2")}</row>'
         "</relation>", [{"a": 1, "b": 2}]),
        (f'<context><contextEntry><variable name="x y"/>{literal("1")}</contextEntry>'
         f"<contextEntry>{literal('x y + 1')}</contextEntry></context>", 2),
        (f'<invocation>{literal("sum")}<binding><parameter name="list"/>{literal("[1, 2]")}'
         "</binding></invocation>", 3),
    ],
)  # fmt: skip
def test_boxed_expressions(logic: str, value: object) -> None:
    assert values_agree(
        decided(f'<decision id="d" name="d">{logic}</decision>'), import_value(value)
    )


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (f'<decision id="d" name="d">{literal("1 +")}</decision>', "the expression ends too early"),
        (f'<decision id="d" name="d"><variable name="d" typeRef="tX"/>{literal("1")}</decision>',
         "there is no type `tX`"),
        ('<decision id="d" name="d"><informationRequirement><requiredInput href="#x"/>'
         f"</informationRequirement>{literal('1')}</decision>",
         "nothing has the id `x`, which it requires"),
        ('<decision id="d" name="d"><literalExpression expressionLanguage="urn:groovy">'
         "<text>[1, 2].sum()</text></literalExpression></decision>",
         "the expression language `urn:groovy` is not supported"),
    ],
)  # fmt: skip
def test_a_broken_decision_is_a_problem_and_refused(body: str, problem: str) -> None:
    found = linked(body + f'<decision id="e" name="e">{literal("2")}</decision>')
    assert [p.reason for p in found.problems] == [problem]
    with pytest.raises(Unsupported):
        decide(found, "d", {})
    assert decide(found, "e", {}) == Decimal(2)


def test_a_circle_of_requirements_is_refused() -> None:
    required = (
        '<decision id="{0}" name="{0}"><informationRequirement><requiredDecision href="#{1}"/>'
        "</informationRequirement>" + literal("1") + "</decision>"
    )
    found = linked(required.format("d", "e") + required.format("e", "d"))
    with pytest.raises(Unsupported, match="`d` requires itself"):
        decide(found, "d", {})


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"<a/>", "is not the definitions element of DMN"),
        (b"<a>", "line 1: the file ends inside `<a>` of line 1 before"),
        (b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "line 1: the document type declaration"),
        (b"<a>" * 300, "line 1: elements are nested more than 256 levels deep"),
        (model('<decision id="d" name="d"><decisionTable hitPolicy="U"/></decision>'),
         "unknown hit policy `U`"),
        (model('<decision id="d" name="d"><filter/></decision>'), "`filter` lacks an expression"),
    ],
)  # fmt: skip
def test_files_that_are_no_dmn(data: bytes, message: str) -> None:
    with pytest.raises(DmnError, match=message):
        read_dmn(data)
