"""Programs that somebody may have edited: which texts are the same program.

The referee is acorn's tree of the same texts: two programs have one form exactly if they have one
tree. Programs are the code of compiled workflows, edited token by token.
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import pytest
from orgflow.api import compile, read
from orgflow.backends.javascript.source_programs import (
    MOST_NESTED,
    UnreadableProgram,
    read_program,
)
from orgflow.backends.n8n.engine.node import find_node

from tests.support.node_tools import tool
from tests.support.shared_data import shared_data

EXAMPLES = Path(__file__).parents[3] / "examples"
ACORN = {"acorn": "8.15.0", "astring": "1.9.0"}
TREES = Path(__file__).parents[2] / "support" / "javascript_trees.cjs"

EQUAL = [
    ("const a = 1;", "const a=1.0 // the first"),
    ('return {a, "b": x["k"]}', "return {\n  a: a,\n  b: x.k,\n};"),
    ('return "a\\u0041\\x41"', "return `aAA`;"),
    ('"\\ud83d\\ude00"', "'\U0001f600'"),
    ("f((a+b)*c)", "f(((a + b)) * (c))"),
    ('x?.["a"]', "x?.a"),
    ("() => ({})", "()=>( { } )"),
    ("x => 1", "(x) => 1"),
    ("async x => 1", "async (x) => 1"),
    ("if(a){;b();}", "if (a) { /* nothing */ b() }"),
    ("[a, b]", "[a, b,]"),
    ("1_000", "1e3"),
]
OTHER = [
    ("(a?.b).c", "a?.b.c"),
    ("[a,,b]", "[a,b]"),
    ("[1,2]", "[1,2,,]"),
    ("a+b*c", "(a+b)*c"),
    ("const a=1", "let a=1"),
    ("return\n1", "return 1"),
    ("() => ({})", "() => {}"),
    ("x=0x10", "x=10"),
    ("({get a(){return 1}})", "({a(){return 1}})"),
    ("async()=>1", "()=>1"),
    ("a-b", "b-a"),
    ("a++", "++a"),
    ("-a", "+a"),
    ("'a'", "a"),
    ("`a${b}`", "`a${c}`"),
    ("for(const a of b)c()", "for(const a in b)c()"),
    ("for(;;)a()", "for(;a;)a()"),
    ("for(;a;)b()", "for(a;;)b()"),
    ("for(;;a)b()", "for(;a;)b()"),
    ("function* f(){}", "function f(){}"),
    ("1n", "1"),
    ("`a`", "tag`a`"),
    ("({__proto__})", "({__proto__: __proto__})"),
    ("x=>1", "async x=>1"),
    ("!a", "!!a"),
    ("'1'", "1"),
    ("tag`\\n`", "tag`\n`"),
]


@pytest.mark.parametrize(("first", "second"), EQUAL)
def test_spelling_is_no_part_of_the_form(first: str, second: str) -> None:
    assert read_program(first) == read_program(second)


@pytest.mark.parametrize(("first", "second"), OTHER)
def test_another_program_has_another_form(first: str, second: str) -> None:
    assert read_program(first) != read_program(second)


def test_the_tables_agree_with_acorn() -> None:
    trees = [
        read[0] for read in acorn_trees([t for pair in (*EQUAL, *OTHER) for t in pair]) if read
    ]
    same = [first == second for first, second in zip(trees[::2], trees[1::2], strict=True)]
    assert same == [True] * len(EQUAL) + [False] * len(OTHER)


def test_a_call_that_names_something_is_what_it_names() -> None:
    def element_of(function: str, text: str) -> str | None:
        return {"Check order": "t1", "Check": "t1"}.get(text) if function == "$" else None

    first = read_program('$("Check order").first().json.a', element_of)
    assert first == read_program("$('Check').first().json.a", element_of)
    assert first != read_program("$('Other').first().json.a", element_of)
    assert read_program("f('Check')", element_of) != read_program("f('Check order')", element_of)


@pytest.mark.parametrize(
    "text", ["const = 1", "a b", "{", "return }", '"', "(" * 2000 + ")" * 2000]
)
def test_what_is_no_program_is_an_error(text: str) -> None:
    with pytest.raises(UnreadableProgram):
        read_program(text)


def test_nested_calls_are_read_once() -> None:
    """Reading each argument twice would take 2 to the power of 60 steps."""
    read_program("f(" * 60 + "a" + ")" * 60)


def test_deep_programs_are_an_error_with_their_limit() -> None:
    read_program("[" * 100 + "]" * 100)
    with pytest.raises(UnreadableProgram, match=str(MOST_NESTED)):
        read_program("[" * 1000 + "]" * 1000)


def test_edits_change_the_form_exactly_if_they_change_the_tree() -> None:
    chance = random.Random(5)
    programs = compiled_programs()
    pairs = [(p, edited_text(p, chance)) for p in programs for _ in range(3000 // len(programs))]
    trees = acorn_trees([text for pair in pairs for text in pair])
    changed = unchanged = 0
    for (first, second), was, now in zip(pairs, trees[::2], trees[1::2], strict=True):
        assert was is not None
        if now is None or now[0] == was[0]:
            unchanged += now is not None
            if now is not None:
                assert read_program(first) == read_program(second), second
            continue
        changed += 1
        assert not same_form(first, second), (first, second)
    assert changed > 400
    assert unchanged > 500


def test_a_reformatted_program_keeps_its_form() -> None:
    programs = compiled_programs()
    assert len(programs) > 10
    for program, tree in zip(programs, acorn_trees(programs), strict=True):
        assert tree is not None
        assert read_program(program) == read_program(tree[1])


def same_form(first: str, second: str) -> bool:
    try:
        return read_program(first) == read_program(second)
    except UnreadableProgram:
        return False


@lru_cache(maxsize=1)
def compiled_programs() -> tuple[str, ...]:
    """The code of compiled models, each once."""
    texts: dict[str, None] = {}
    models = [*EXAMPLES.rglob("*.bpmn"), *shared_data("camunda7-executable").rglob("*.bpmn*")]
    for model in sorted(models):
        for text in compile(read(model), target="n8n").files.values():
            for node in json.loads(text)["nodes"]:
                if "jsCode" in node["parameters"]:
                    texts[node["parameters"]["jsCode"]] = None
    return tuple(texts)


_TOKENS = re.compile(r"\w+|\"[^\"\n]*\"|\s+|[^\w\s]")


def edited_text(program: str, chance: random.Random) -> str:
    """A program with one token left out, repeated, exchanged or spelled otherwise."""
    tokens = _TOKENS.findall(program)
    place = chance.randrange(len(tokens))
    match chance.randrange(5):
        case 0:
            tokens[place] = ""
        case 1:
            tokens[place] *= 2
        case 2:
            tokens[place] = chance.choice(tokens)
        case 3:
            tokens[place] = {"true": "false", "const": "let", "<": ">", "+": "-"}.get(
                tokens[place], tokens[place] + " "
            )
        case _:
            if tokens[place].isspace():
                tokens[place] += "/* a note */ "
            elif tokens[place].startswith('"') and "'" not in tokens[place]:
                tokens[place] = f"'{tokens[place][1:-1]}'"
    return "".join(tokens)


def acorn_trees(programs: Iterator[str] | tuple[str, ...] | list[str]) -> list[list[str] | None]:
    """The tree of each program, and what is printed of it."""
    folder = tool("acorn", ACORN)
    done = subprocess.run(
        [find_node().path, TREES],
        env=os.environ | {"NODE_PATH": str(folder / "node_modules")},
        input=json.dumps(list(programs)),
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return list(json.loads(done.stdout))
