"""How n8n reads the value of a parameter; the referee is n8n's own resolution of the same texts."""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path

import pytest
from orgflow.backends.n8n.engine.install import engine_dir, engine_status
from orgflow.backends.n8n.engine.node import find_node
from orgflow.backends.n8n.format.expression_parts import is_value, split_parameter
from orgflow.backends.n8n.format.parameter_values import parameter_form, same_parameters

from tests.support.node_tools import missing

REFEREE = Path(__file__).parents[2] / "support" / "parameter_values.cjs"

CODES: dict[str, object] = {
    "`b${1}`": "b1",
    " 1 + 1 ": 2, "7": 7, ' "a" ': "a", "'x y'": "x y", " true ": True, "[1, 2].length": 2,
    " { a: 3 }.a ": 3, '"{" + "{"': "{{", " 2\n": 2, '"\\\\"': "\\",
}  # fmt: skip
"""Codes, and their values."""

TEXTS = ("", " ", "a", "\n", "{", "}", "a }} b", "\\", "\\\\", "\\\\\\", "\\{{", "=", "x = ", "}}")
"""Texts between them; what n8n hands on of them is for `split_parameter` to say."""


def random_parameter(chance: random.Random) -> str:
    """A parameter of up to three codes with texts around them."""
    parts = [chance.choice(TEXTS)]
    for _ in range(chance.choice((0, 1, 1, 1, 2, 3))):
        code = chance.choice([*CODES])
        parts += ["{{", code, "}}", chance.choice(("", "", *TEXTS))]
    return chance.choice(("=", "=", "=", "=", "")) + "".join(parts)


def resolved_by_n8n(texts: list[str]) -> list[list[str]]:
    """Type and value of each parameter."""
    if not engine_status().installed:
        missing("n8n's engine is not installed")
    done = subprocess.run(
        [find_node().path, REFEREE, engine_dir() / "node_modules"],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return list(json.loads(done.stdout))


def resolved_here(text: str) -> object:
    """The value of a parameter by our reading and the values of its codes; `KeyError` for a code
    that is none of those."""
    if not text.startswith("="):
        return text
    parts = split_parameter(text)
    if is_value(parts):
        return CODES[parts[1].text]
    if not parts:
        return None
    values = [CODES[p.text] if p.is_code else p.text for p in parts]
    return "".join({True: "true", False: "false"}.get(v, str(v)) if isinstance(v, bool) else str(v)
                   for v in values)  # fmt: skip


def test_n8n_reads_1000_parameters_as_we_do() -> None:
    chance = random.Random(11)
    texts = list(dict.fromkeys(random_parameter(chance) for _ in range(1400)))[:1000]
    assert len(texts) > 700
    compared = 0
    for text, answer in zip(texts, resolved_by_n8n(texts), strict=True):
        try:
            value = resolved_here(text)
        except KeyError:
            continue  # brackets in a text cut a code in two
        assert len(answer) == 2, (text, answer)
        assert json.loads(answer[1]) == value, text
        assert type(json.loads(answer[1])) is type(value), text
        compared += 1
    assert compared > 500


@pytest.mark.parametrize(
    "text",
    [" ={{ $json.a }}", "={{ $json.a }} ", "= {{ $json.a }}", "={{ $json.a }}\n", "{{ $json.a }}"],
)
def test_a_blank_beside_the_brackets_makes_another_value(text: str) -> None:
    assert not same_parameters("={{ $json.a }}", text)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("={{ $json.a }}", "={{$json.a}}"),
        ("={{ $json.a }}", '={{ $json["a"] }}'),
        ("=a {{ 1 }}", "=a {{1.0}}"),
        ({"a": "={{ 1 }}", "b": 1}, {"b": 1, "a": "={{1}}"}),
    ],
)
def test_layout_inside_of_the_brackets_makes_no_difference(first: object, second: object) -> None:
    assert same_parameters(first, second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("a", "=a b"),
        ({"a": 1}, {"a": True}),
        ({"a": 1}, {"a": "1"}),
        (["a", "b"], ["b", "a"]),
        ("={{ {} }}", "={{ }}"),
        ("={{ a b }}", "={{ a  b }}"),
    ],
)
def test_other_values_have_other_forms(first: object, second: object) -> None:
    assert not same_parameters(first, second)


def test_the_name_of_a_node_is_the_node() -> None:
    forms = [
        parameter_form(f"={{{{ $('{name}').first().json.a }}}}", lambda call, text: text[-1])
        for name in ("Step 1", "Task 1", "Task 2")
    ]
    assert forms[0] == forms[1] != forms[2]
