"""Functions in scripts and conditions: values of real interpreters and of n8n's engine.

    python benchmarks/function_values.py [--seed N] [--texts N] [--language NAME] [--show]
                                         [--record FILE]

Draws expressions over the functions of `orgflow_ir/program/function_rows.py` with variables of many
types. Node, Python 3, Groovy and Tomcat's implementation of the expression language compute them;
n8n's engine runs the compiled scripts, output mappings and conditions. Prints per language how many
values are equal, how many runs stop, which expressions are refused, and how many values differ: a
run that has another value, or a value where the interpreter ends with an error, is silently wrong.
Exits with 1 if there is any. Java's languages need the jars of the packages `groovy` and
`libtomcat9-java`; without them their expressions are left out, which is said.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests" / "support"), str(ROOT / "tests" / "backends" / "n8n")]

from one_task import HEAD, compiled, one_task  # noqa: E402
from orgflow.backends.n8n.engine.local import LocalEngine, RunRequest  # noqa: E402

from orgflow_ir.languages.recognise import read_condition  # noqa: E402
from orgflow_ir.model import Expression  # noqa: E402
from orgflow_ir.program.syntax import ConditionError  # noqa: E402

JARS = (
    "/usr/share/java/tomcat9-el-api.jar", "/usr/share/java/tomcat9-jasper-el.jar",
    "/usr/share/java/tomcat9-juli.jar", "/usr/share/java/tomcat9-util.jar",
    "/usr/share/java/groovy.jar", "/usr/share/java/groovy-all.jar",
)  # fmt: skip
STOP = {"stop": True}
MOST = 60


class Case(NamedTuple):
    """An expression with variables, as a value or as a condition."""

    language: str
    text: str
    is_condition: bool
    given: dict[str, Any]


# -- expressions -----------------------------------------------------------------------------------

Grammar = dict[str, tuple[str, ...]]
"""Productions by the type of their value: T text, N number, I whole number, L list of numbers,
X list of texts, B truth value, P separator, C short text, A entry."""

_SHARED: Grammar = {
    "P": ("','", "'-'", "' '"), "C": ("'a'", "'b'", "'lo'", "'x'"),
    "I": ("0", "1", "2", "k", "n"),
}  # fmt: skip
GRAMMARS: dict[str, Grammar] = {
    "javascript": {
        **_SHARED,
        "T": ("s", "s", "T.substring(I)", "T.substring(I, I)", "T.slice(I)", "T.slice(-2)",
              "T.trim()", "T.toUpperCase()", "T.toLowerCase()", "T.replace(C, C)", "X.join(P)",
              "String(N)", "T.charAt(I)", "T.split(P)[0]", "T.split(P)[I]", "T.padStart(6, '0')",
              "N.toFixed(2)", "L.join()", "T.repeat(2)", "T.replaceAll(C, C)", "c?.name", "(T + T)",
              "o.find(x => x.a > k).b", "X.reduce((p, q) => p + q, '')", "X.map(x => x.trim())[0]"),
        "N": ("n", "k", "Math.abs(N)", "Math.round(N)", "Math.floor(N)", "Math.ceil(N)",
              "Math.max(N, N)", "Math.min(N, N, 3)", "Math.trunc(N)", "Math.sign(N)",
              "Math.pow(I, 2)", "Math.sqrt(N)", "T.indexOf(C)", "T.lastIndexOf(C)", "parseInt(T)",
              "parseInt(N, 10)", "parseFloat(T)", "Number(T)", "L.length", "T.length", "(N + N)",
              "(N * 2)", "L.reduce((p, q) => p + q, 0)", "L.indexOf(N)", "L.findIndex(x => x > 1)",
              "o.map(x => x.a).reduce((p, q) => p + q)", "L.at(-1)", "L[0]", "(N - k)"),
        "L": ("l", "l", "L.map(x => x * 2)", "L.filter(x => x > k)", "L.slice(1)",
              "o.map(x => x.a)",
              "o.filter(x => x.b == s).map(x => x.a)", "L.map(x => Math.abs(x))",
              "L.filter(x => x)", "X.map(x => x.length)", "l.filter(x => l.some(y => y > x))"),
        "X": ("t", "t", "T.split(P)", "X.map(x => x.toUpperCase())", "o.map(x => x.b)",
              "X.filter(x => x.includes(C))", "X.slice(I, I)"),
        "B": ("N > N", "T == C", "T.includes(C)", "T.startsWith(C)", "T.endsWith(C)",
              "L.includes(N)", "L.some(x => x > k)", "L.every(x => x > k)", "o.some(x => x.a > k)",
              "B && B", "B || B", "!B", "L.length > 1", "L.find(x => x > k) != null",
              "o.every(x => x.b.length > 0)"),
    },
    "groovy": {
        **_SHARED,
        "T": ("s", "s", "T.substring(I)", "T.substring(I, I)", "T.trim()", "T.toUpperCase()",
              "T.replace(C, C)", "X.join(P)", "T.split(P)[0]", "s?.trim()", "c?.name",
              "T.reverse()",
              "o.find { it.a > k }?.b", "o.find { it.a > k }.b", "(s ?: 'none')", "X[-1]",
              "(T + T)", "X.max()", "X.collect { it.trim() }[0]", "L.join(P)"),
        "N": ("n", "k", "Math.abs(N)", "Math.max(N, N)", "Math.min(N, k)", "T.indexOf(C)",
              "T.lastIndexOf(C)", "T.length()", "L.size()", "L.sum()", "L.max()", "L.min()",
              "o.sum { it.a }", "L[-1]", "L.count { it > k }", "L.inject(0) { p, q -> p + q }",
              "s.toInteger()", "Math.round(N)", "Integer.parseInt(s)", "(N + N)", "(N - 1)",
              "o.collect { it.a }.sum()", "X.size()"),
        "L": ("l", "l", "L.collect { it * 2 }", "L.findAll { it > k }", "o.collect { it.a }",
              "L.collect { x -> x + 1 }", "o.findAll { it.b == s }.collect { it.a }",
              "L.reverse()", "L.take(2)", "L.drop(1)", "X.collect { it.length() }",
              "l.findAll { x -> l.any { y -> y > x } }"),
        "X": ("t", "t", "X.collect { it.toUpperCase() }", "o.collect { it.b }",
              "X.findAll { it.contains(C) }", "X.reverse()"),
        "B": ("N > N", "T == C", "T.contains(C)", "T.startsWith(C)", "k in L", "s in X",
              "k in [1, 2]", "L.any { it > k }", "L.every { it > k }", "o.any { it.a > k }",
              "B && B",
              "B || B", "!B", "L.size() > 1", "L.contains(k)", "o.every { it.b.length() > 0 }"),
    },
    "python": {
        **_SHARED,
        "T": ("s", "s", "T[I:]", "T[I:I]", "T[:-1]", "T[-1]", "T.strip()", "T.upper()", "T.lower()",
              "T.replace(C, C)", "P.join(X)", "str(N)", "str(I)", "T.split(P)[0]", "(T + T)",
              "(T if B else T)", "X[-1]", "max(X)", "str(len(T)) + C", "s[I]"),
        "N": ("n", "k", "len(T)", "len(L)", "int(N)", "int(T)", "float(T)", "abs(N)", "round(N)",
              "round(N, 1)", "sum(L)", "min(L)", "max(L)", "max(N, N)", "min(N, k, 2)", "(I // 2)",
              "(N // I)", "(N + N)", "(N * 2)", "L[-1]", "L[0]", "T.find(C)", "T.count(C)",
              "(N if B else N)", "sum(x['a'] for x in o)", "sum([x * 2 for x in l])",
              "len([x for x in l if x > k])", "(I % 3)"),
        "L": ("l", "l", "[x * 2 for x in L]", "[x for x in L if x > k]", "L[1:]", "L[:2]", "L[-2:]",
              "[x['a'] for x in o]", "[x['a'] for x in o if x['b'] == s]", "[abs(x) for x in L]",
              "[len(x) for x in X]", "[x for x in l if any(y > x for y in l)]"),
        "X": ("t", "t", "T.split(P)", "[x.upper() for x in X]", "[x['b'] for x in o]",
              "[x for x in X if C in x]", "X[1:]"),
        "B": ("N > N", "T == C", "C in T", "C not in T", "k in L", "s in X", "k in [1, 2]",
              "T.startswith(C)", "any(x > k for x in L)", "all(x > k for x in L)", "B and B",
              "B or B", "not B", "len(L) > 1", "any(x['a'] > k for x in o)", "k not in L"),
    },
    "juel": {
        **_SHARED,
        "T": ("s", "s", "T.substring(I)", "T.substring(I, I)", "T.trim()", "T.toUpperCase()",
              "T.toLowerCase()", "T.replace(C, C)", "T.concat(C)"),
        "N": ("n", "k", "T.length()", "T.indexOf(C)", "T.lastIndexOf(C)", "t.size()"),
        "B": ("T == C", "T.contains(C)", "T.startsWith(C)", "T.endsWith(C)", "T.isEmpty()",
              "t.contains(s)", "T.length() > 1", "B && B", "B || B", "!B", "T.indexOf(C) > 0",
              "N > 1", "t.isEmpty()", "empty T", "T.equals(C)"),
    },
}  # fmt: skip
_LEAVES = {"T": "s", "N": "k", "L": "l", "X": "t", "B": "k > 1"}


def draw_text(grammar: Grammar, kind: str, rng: random.Random, depth: int) -> str:
    """An expression of a type."""
    if depth == 0 and kind in _LEAVES:
        return _LEAVES[kind]
    text = rng.choice(grammar[kind])
    signs = []
    for at, char in enumerate(text):
        alone = not (text[at - 1 : at].isalpha() or text[at + 1 : at + 2].isalpha())
        quoted = text[:at].count("'") % 2
        if char in grammar and char.isupper() and alone and not quoted and text[at - 1 : at] != ".":
            signs.append(draw_text(grammar, char, rng, depth - 1))
        else:
            signs.append(char)
    return "".join(signs)


VALUES: dict[str, tuple[Any, ...]] = {
    "s": ("hello", "a", "", "a,b,,c", " xa-b ", "12", "3.5", "Lo", "b", "12abc", "äöü", "-7",
          "ab\nlo", None, 5, "\U0001f600x"),
    "n": (0, 1, 2, 3, -1, 2.5, -2.5, 0.1, 100, 1000000, 3.14159, None, "4", 7),
    "k": (0, 1, 2, 3, -1, 1.5),
    "l": ([1, 2, 3], [], [5], [3, 1, 2], [-1, 0, 1], [0.5, 1.5], [0.1, 0.2, 0.3], [1, 2.5], None,
          ["1", 2], [2, 2]),
    "t": (["a", "b"], [], ["hello", "lo"], ["x"], [" a", "b "], ["b", "a", "lo"], None, ["a", 1]),
    "o": ([{"a": 1, "b": "x"}, {"a": 2, "b": "lo"}], [], [{"a": 3, "b": "a"}],
          [{"a": 0.5, "b": ""}],
          [{"a": 1}], [{"a": None, "b": "x"}], None),
    "c": ({"name": "Ann"}, {"name": ""}, None, {}),
}  # fmt: skip


def draw_given(rng: random.Random) -> dict[str, Any]:
    """Values of all variables; most are what the expressions expect."""
    common = {name: values[: max(2, len(values) // 2)] for name, values in VALUES.items()}
    return {
        name: rng.choice(values if rng.random() < 0.25 else common[name])
        for name, values in VALUES.items()
    }


def draw_cases(language: str, texts: int, seed: int) -> list[Case]:
    """Distinct expressions of a language, each with several sets of variables."""
    rng = random.Random(f"{seed} {language}")
    grammar = GRAMMARS[language]
    kinds = [kind for kind in "TNLXBB" if kind in grammar]
    drawn: dict[tuple[str, bool], None] = {}
    for _ in range(texts * 20):
        kind = rng.choice(kinds)
        text = draw_text(grammar, kind, rng, rng.choice((1, 1, 2, 2, 3)))
        drawn[text, kind == "B" and rng.random() < 0.6] = None
        if len(drawn) >= texts:
            break
    return [
        Case(language, text, is_condition, draw_given(rng))
        for text, is_condition in drawn
        for _ in range(4)
    ]


# -- interpreters ----------------------------------------------------------------------------------

_NODE = """
const lines = require("fs").readFileSync(0, "utf8").trimEnd().split("\\n");
for (const line of lines) {
  const [text, given] = JSON.parse(line);
  let answer;
  try {
    const compute = new Function(...Object.keys(given), "return (" + text + ")");
    const value = compute(...Object.values(given));
    const lost = (one) => one === undefined || bad(one);
    const bad = (v) => typeof v === "number" ? !Number.isFinite(v)
      : v !== null && typeof v === "object" && Object.values(v).some(lost);
    answer = bad(value) ? { unknown: String(value) } : { value: value ?? null };
  } catch (error) { answer = { error: String(error) }; }
  console.log(JSON.stringify(answer));
}
"""
_PYTHON = """
import json, math, sys
for line in sys.stdin:
    text, given = json.loads(line)
    try:
        answer = {"value": eval(text, dict(given))}
        json.dumps(answer, allow_nan=False)
    except Exception as error:
        answer = {"error": str(error)}
    print(json.dumps(answer))
"""


def ask_process(command: list[str], cases: list[Case]) -> list[dict[str, Any]]:
    """The answers of an interpreter that reads cases as lines of JSON."""
    lines = "".join(f"{json.dumps([case.text, case.given])}\n" for case in cases)
    done = subprocess.run(command, input=lines, check=True, stdout=subprocess.PIPE, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def ask_java(cases: list[Case]) -> list[dict[str, Any]] | None:
    """The answers of Groovy or the expression language; `None` where they are not installed."""
    jars = [jar for jar in JARS if Path(jar).exists()]
    if len(jars) < 3:
        return None
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows"
        lines = []
        for case in cases:
            text = f"${{{case.text}}}" if case.language == "juel" else case.text
            lines.append(f"{case.language}\t{json.dumps(text)}\t{json.dumps(case.given)}\n")
        file.write_text("".join(lines), "utf-8")
        referee = Path(__file__).with_name("JavaReferee.java")
        command = ["java", "-cp", ":".join(jars), str(referee), str(file)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    answers: list[dict[str, Any]] = []
    for line in done.stdout.splitlines():
        if line == "missing":
            return None
        known = line not in ("error", "uncompiled")
        answers.append({"value": json.loads(line)} if known else {"error": line})
    return answers


ASK: dict[str, Callable[[list[Case]], list[dict[str, Any]] | None]] = {
    "javascript": lambda cases: ask_process(["node", "-e", _NODE], cases),
    "python": lambda cases: ask_process([sys.executable, "-c", _PYTHON], cases),
    "groovy": ask_java,
    "juel": ask_java,
}


# -- n8n -------------------------------------------------------------------------------------------


def write_model(case: Case) -> str:
    """A process that computes the expression, or decides by it."""
    if case.is_condition:
        text = f"${{{case.text}}}" if case.language == "juel" else case.text
        language = "" if case.language == "juel" else f' language="{case.language}"'
        flows = "".join(
            f'<sequenceFlow id="{a}_{b}" sourceRef="{a}" targetRef="{b}">{inside}</sequenceFlow>'
            for a, b, inside in (
                ("s", "g", ""), ("g", "Yes", f"<conditionExpression{language}>{escape(text)}"
                                 "</conditionExpression>"), ("g", "No", ""),
            )
        )  # fmt: skip
        return (
            f'{HEAD}<startEvent id="s"/><exclusiveGateway id="g" default="g_No"/>'
            f'<endEvent id="Yes" name="Yes"/><endEvent id="No" name="No"/>{flows}'
            "</process></definitions>"
        )
    if case.language == "juel":
        return one_task(
            '<scriptTask id="t" name="Work" scriptFormat="groovy"><extensionElements>'
            f'<camunda:inputOutput><camunda:outputParameter name="r">{escape(f"${{{case.text}}}")}'
            "</camunda:outputParameter></camunda:inputOutput></extensionElements>"
            '<script>println("x")</script></scriptTask>'
        )
    code = f"execution.setVariable('r', {case.text})"
    return one_task(
        f'<scriptTask id="t" name="Work" scriptFormat="{case.language}"><script>{escape(code)}'
        "</script></scriptTask>"
    )


def refuse_condition(case: Case) -> str:
    """Why a condition is not supported; empty if it is."""
    text = f"${{{case.text}}}" if case.language == "juel" else case.text
    language = None if case.language == "juel" else case.language
    try:
        read_condition(Expression(text=text, language=language))
    except ConditionError as error:
        return str(error)
    return ""


def run_cases(
    engine: LocalEngine, cases: list[Case]
) -> tuple[list[dict[str, Any] | None], Counter[str]]:
    """What n8n's engine computes, `None` for what the compiler refuses, and the reasons."""
    workflows: dict[tuple[str, str, bool], dict[str, Any] | None] = {}
    reasons: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            key = case[:3]
            if key in workflows:
                continue
            if case.is_condition and (reason := refuse_condition(case)):
                workflows[key] = None
                reasons[reason] += 1
                continue
            process, ctx = compiled(write_model(case), Path(folder))
            refused = [d.message for d in ctx.diagnostics if d.code == "OF404"]
            workflows[key] = None if refused else process.root.workflow
            reasons.update(refused[:1])
    requests = [
        RunRequest(workflow, "Start", items=[{"json": case.given}], data=True)
        for case in cases
        if (workflow := workflows[case[:3]]) is not None
    ]
    runs = iter(engine.run_many(requests))
    values: list[dict[str, Any] | None] = []
    for case in cases:
        if workflows[case[:3]] is None:
            values.append(None)
            continue
        run = next(runs)
        last = run.order[-1]
        if run.status != "success" or not last.items:
            values.append(STOP)
        elif case.is_condition:
            values.append({"value": last.node == "Yes"})
        else:
            values.append({"value": last.items[0][0].get("r")})
    return values, reasons


def same_value(one: Any, other: Any) -> bool:
    """Whether two values of JSON are equal; JavaScript writes 5.0 as 5."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same_value, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same_value(one[k], other[k]) for k in one)
    return bool(one == other)


def judge_case(case: Case, answer: dict[str, Any], ours: dict[str, Any] | None) -> str:
    """How a run compares with the interpreter."""
    if ours is None:
        return "refused"
    if ours is STOP:
        return "stops"
    if case.is_condition and "value" in answer:
        answer = {"value": bool(answer["value"])}  # a text or null
    if "value" in answer and same_value(answer["value"], ours["value"]):
        return "equal"
    return "silent"


RECORD_HEAD = """\
# Functions in scripts and conditions with the values of Node 20, CPython 3.11, Groovy 2.4.21 and
# the expression language of Tomcat 9, drawn by `benchmarks/function_values.py --record`.
# language <tab> value or condition <tab> text <tab> variables <tab> value; error: the interpreter
# stops as well; stop: only the run stops, since the result depends on types or on versions
"""


def write_row(case: Case, answer: dict[str, Any], verdict: str) -> str:
    """A case as a row of the tests."""
    value = "error" if verdict == "stops" else json.dumps(answer.get("value"), ensure_ascii=False)
    if verdict == "stops" and "value" in answer:
        value = "stop"
    if case.is_condition and verdict == "equal":
        value = json.dumps(bool(answer["value"]))
    used = {
        name: given for name, given in case.given.items() if re.search(rf"\b{name}\b", case.text)
    }
    kind = "condition" if case.is_condition else "value"
    return "\t".join(
        (case.language, kind, json.dumps(case.text), json.dumps(used, ensure_ascii=False), value)
    )


def main() -> int:
    """Prints the totals; 1 if a value is silently wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--texts", type=int, default=150)
    parser.add_argument("--language", choices=sorted(GRAMMARS))
    parser.add_argument("--show", action="store_true", help="stops where there is a value")
    parser.add_argument("--record", type=Path, help="rows for the tests")
    options = parser.parse_args()
    columns = ("expressions", "values", "equal", "stops", "refused", "silent")
    print(f"{'language':12}" + "".join(f"{column:>13}" for column in columns))
    total = 0
    rows: list[str] = []
    with LocalEngine() as engine:
        for language in [options.language] if options.language else sorted(GRAMMARS):
            cases = draw_cases(language, options.texts, options.seed)
            answers = ASK[language](cases)
            if answers is None:
                print(f"{language:12} its interpreter is not installed")
                continue
            values, reasons = run_cases(engine, cases)
            counts: Counter[str] = Counter(values=len(cases))
            counts["expressions"] = len({case[:3] for case in cases})
            stopped = 0
            for case, answer, ours in zip(cases, answers, values, strict=True):
                verdict = judge_case(case, answer, ours)
                if options.record and verdict in ("equal", "stops"):
                    rows.append(write_row(case, answer, verdict))
                counts[verdict] += 1
                total += verdict == "silent"
                stopped += verdict == "stops" and "value" in answer
                if verdict == "silent" and total <= MOST:
                    print(f"  {language}: {case.text}  {json.dumps(case.given)}")
                    print(f"    {answer} ours {ours} condition={case.is_condition}")
                if options.show and verdict == "stops" and "value" in answer:
                    print(f"  stop: {case.text} {answer} {json.dumps(case.given)}")
            print(f"{language:12}" + "".join(f"{counts[column]:13}" for column in columns)
                  + f"   ({stopped} stops where the interpreter has a value)")  # fmt: skip
            for reason, count in reasons.most_common(12):
                print(f"    refused {count}: {reason[:160]}")
    if options.record:
        options.record.write_text(RECORD_HEAD + "\n".join(rows) + "\n", "utf-8")
    return int(total > 0)


if __name__ == "__main__":
    sys.exit(main())
