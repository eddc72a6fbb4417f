"""Outlines as people and language models write them, their faults, and mutated outlines."""

from __future__ import annotations

import random
import time
from pathlib import Path

import orgflow
import pytest
from cli_cases import orgflowc
from orgflow.compilation.reading import choose_frontend
from outline_rows import ROWS
from outline_trips import REGISTRY, format_text, model_of, read_text, text_of
from seeds import seeds
from shared_data import shared_data

from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext

STOCK = """\
choose: in stock?
  if: yes
    pack goods | clerk
  else:
    order goods
"""


@pytest.mark.parametrize(
    "text",
    [
        "choose: in stock?\n\tif: yes\n\t\tpack goods | clerk\n\telse:\n\t\torder goods\n",
        "choose: in stock?\n    if: yes\n        pack goods | clerk\n    else:\n"
        "        order goods",
        "- choose: in stock?\n  - if: yes\n    - pack goods | clerk\n  - else:\n"
        "    - order goods\n",
        "```outline\nchoose: in stock?\n  if: yes\n    pack goods | clerk\n  else:\n"
        "    order goods\n```\n",
        "Choose: in stock?\n  IF: yes\n    pack goods|clerk|\n  Else :\n    order goods | - | -\n",
        "choose in stock?\n  if yes\n    pack goods | clerk\n  else\n    order goods\n",
        "choose: in stock?\n\n   if: yes\n      pack   goods | clerk\n   else:\n"
        "      order goods\n\n",
        "\ufeffchoose: in stock?\r\n  if: yes\r\n    pack goods | clerk\r\n  else:\r\n"
        "    order goods\r\n",
        "  choose: in stock?\n    if: yes\n      pack goods | clerk\n    else:\n"
        "      order goods\n",
        "choose: in stock?\n  else:\n    order goods\n  if: yes\n    pack goods | clerk\n",
    ],
    ids=["tabs", "four spaces", "bullets", "fence", "case", "no colons", "blank lines", "windows",
         "indented", "else first"],
)  # fmt: skip
def test_what_people_write_is_read(text: str) -> None:
    assert format_text(text) == STOCK


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("send invoice\n", "send invoice\n"),
        ("choose a supplier\n", "choose a supplier\n"),
        ("leave a note | clerk\n", "leave a note | clerk\n"),
        ("process: shop\n  check order\n  ship order\n", "process: shop\ncheck order\n"
        "ship order\n"),
        ("a\n  on: after 3 days\n    b\n", "a\n  on: after 3 days, stop\n    b\n"),
        ("first review\n  on: after 3 days, also\n", "first review\n  on: after 3 days, also\n"),
        ("repeat\n  a\nagain if late\n  b\n", "repeat:\n  a\nagain if: late\n  b\n"),
        ("goto: #x\na | #x\n", "go to: #x\na | #x\n"),
        ("a | reads x · writes y, z\n", "a | reads x | writes y, z\n"),
        ("a | s2-4, s1 | clerk\n", "a | clerk | s2,s3,s4,s1\n"),
        ("part: x\n  on: error e, stop\n    c\n  a\n", "part: x\n  a\n"
        "  on: error e, stop\n    c\n"),
        ("# why\na\n  # host\n  on: after 1 day, stop\n# end\n",
         "# why\na\n  # host\n  on: after 1 day, stop\n# end\n"),
        ('if x\n', "if x\n"),
        ("choose:\n  if: a\n  else: if: b\n", "choose:\n  if: a\n  if: b\n"),
        ("choose:\n  if: a\n  else: if so\n", "choose:\n  if: a\n  else: if so\n"),
        ("Each of us signs\n", "Each of us signs\n"),
    ],
)  # fmt: skip
def test_canonical_forms(text: str, canonical: str) -> None:
    assert format_text(text) == canonical
    assert format_text(canonical) == canonical


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("a\nif: x\n  b\n", (2, 1), "`if:` cannot be here"),
        ("choose: x\n  b\n", (2, 3), "a step cannot be inside `choose:`"),
        ("a\n  b\n", (2, 3), "a step cannot be inside a step"),
        ("first:\n  b\n", (2, 3), "a step cannot be inside `first:`"),
        ("a\nagain if: x\n", (2, 1), "`again:` cannot be here"),
        ("part: x\n  start: every day\n  a\n", (2, 3), "`start:` cannot be inside `part:`"),
        ("a\nrow:\n  b\n", (2, 1), "`row:` cannot be here"),
        ("choose: x\n", (1, 1), "nothing is inside `choose:`"),
        ("a | clerk | boss\n", (1, 1), "the field `boss` is of a kind that the line already has"),
        ("choose:\n  if: a\n  else:\n  else:\n", (4, 3), "`choose:` has a second `else:`"),
        ("a\n  on: tomorrow, stop\n    b\n", (2, 3), "`tomorrow` is no event"),
        ("first:\n  on: error x\n  on: after 1 day\n", (2, 3), "`first:` cannot wait for an error"),
        ("end: done\na\n", (2, 1), "the line never runs, since `end:` is before it"),
        ("together:\n  row:\n    a\n    end: x\n  b\n", (4, 5), "`end:` is in a branch"),
        ("repeat:\n  together:\n    row:\n      a\n      leave:\n    b\nagain:\n", (5, 7),
         "`leave:` is in a branch"),
        ("a\nleave:\n", (2, 1), "`leave:` is not inside a `repeat:`"),
        ("a\ngo to: #b\n", (2, 1), "no line has the id `#b`"),
        ("a | #x\nb | #x\n", (2, 1), "`#x` is the id of line 1"),
        ("part: p\n  a | #x\ngo to: #x\n", (3, 1), "the flow cannot go to `#x`"),
        ("together:\n  a | after #z\n  b\n", (2, 3), "`#z` is not another branch"),
        ("together:\n  a | #a | after #b\n  b | #b | after #a\n", (2, 3), "waits for itself"),
        ("else:\n", (1, 1), "`else:` cannot be here"),
        ("wait: 3 days | each part\n", (1, 1), "`wait:` cannot have a repetition"),
        ("choose: x | reads a\n  if: b\n", (1, 1), "`choose:` cannot have data"),
        ("choose: x\n  if: b | clerk\n", (2, 3), "`if:` cannot have a performer"),
        ("repeat:\n  a\n  leave: | named b\n", (3, 3), "`leave:` cannot have a label"),
        ("repeat:\n  a\n  leave?:\n", (3, 3), "`leave:` cannot have a doubt"),
    ],
)  # fmt: skip
def test_a_fault_has_its_place_and_a_remedy(
    text: str, place: tuple[int, int], message: str
) -> None:
    model, findings = read_text(text)
    assert model is None
    first = findings[0]
    assert message in first.message
    assert first.loc is not None
    assert (first.loc.line, first.loc.column) == place
    assert first.help
    assert format_text(text) is None


def test_an_end_inside_a_part_ends_the_part() -> None:
    text = "together:\n  part: a\n    x\n    end: y\n  b\n"
    assert orgflow.check(model_of(text)).ok
    beside = "together:\n  a\n    on: after 1 day, also\n      b\n      end: late\n  c\n"
    assert orgflow.check(model_of(beside)).ok


def test_a_text_is_recognised_by_its_content() -> None:
    def name_of(text: str) -> str | None:
        source = SourceFile("answer.txt", text.encode())
        chosen = choose_frontend(source, REGISTRY, PassContext(), None)
        return chosen.name if chosen is not None else None

    assert name_of(STOCK) == "outline"
    assert name_of("start: every Monday\ncheck invoices | clerk | s1\n") == "outline"
    assert name_of("Start -> check\ncheck -> ship -> End\n") == "triples"
    assert name_of("First we check the order: it may be wrong.\nThen we ship it.\n") is None


OWN = ("events", "pools", "german", "twopage")


@pytest.mark.parametrize("name", OWN)
def test_recorded_answers_are_canonical(name: str) -> None:
    """Answers of a language model to texts of the trial, as they were given."""
    texts = shared_data("notation", "own_texts.outline").read_text("utf-8").split("#### ")
    (text,) = [part.partition("\n")[2] for part in texts if part.startswith(f"{name}\n")]
    assert format_text(text) == text
    assert text_of(model_of(text)).count("\n") >= text.count("\n") * 0.9


PIECES = (
    "", " ", "  ", "\t", ":", "|", "[", "]", "#", "#x", "- ", "if:", "else:", "end:", "leave:",
    "together:", "repeat:", "again if: x", "on: after 3 days, stop", "go to: #x", "process: p",
    "part:", "each:", "receive: a from b", "?", "\"", "'", "s1", "after #x", "named", "\u2028",
    "\x00", "\ud83d", "first:", "start: every Monday", "wait:", "call:", "stop:", ", also", "row:",
)  # fmt: skip


def mutate_text(chance: random.Random, text: str) -> str:
    """A text with lines and pieces moved, doubled, removed and inserted."""
    lines = text.splitlines()
    for _ in range(chance.randint(1, 5)):
        place = chance.randrange(len(lines) + 1)
        match chance.randrange(5):
            case 0 if lines:
                lines.pop(min(place, len(lines) - 1))
            case 1 if lines:
                lines.insert(place, chance.choice(lines))
            case 2:
                lines.insert(place, "  " * chance.randrange(5) + chance.choice(PIECES))
            case 3 if lines:
                row = min(place, len(lines) - 1)
                at = chance.randrange(len(lines[row]) + 1)
                lines[row] = lines[row][:at] + chance.choice(PIECES) + lines[row][at:]
            case _ if lines:
                row = min(place, len(lines) - 1)
                lines[row] = " " * chance.randrange(9) + lines[row].strip()
    return "\n".join(lines)


@pytest.mark.parametrize("seed", seeds(0, 3000, 30))
def test_mutated_outlines_raise_nothing(seed: int) -> None:
    """Every text is read or has findings with a place; a model that was read is written, and the
    canonical form is stable."""
    chance = random.Random(seed)
    for _ in range(10):
        text = mutate_text(chance, chance.choice(list(ROWS.values())) * chance.randint(1, 2))
        source = SourceFile("m.outline", text.encode("utf-8", "surrogatepass"))
        ctx = PassContext(registry=REGISTRY)
        model = REGISTRY.frontends["outline"].parse(source, ctx)
        assert (model is None) == bool(ctx.diagnostics)
        assert all(d.loc is not None and d.loc.line and d.help for d in ctx.diagnostics)
        if model is None:
            continue
        orgflow.check(model)
        canonical = REGISTRY.frontends["outline"].format_source(source, PassContext())
        assert canonical is not None
        assert format_text(canonical) == canonical, text


def seconds_to_read(text: str) -> float:
    begin = time.process_time()
    read_text(text)
    return time.process_time() - begin


@pytest.mark.parametrize(
    "piece",
    [
        "check order | clerk | s1\n",
        "choose: x\n  if: a [b > [1]]\n    c\n  else:\n",
        "together:\n  a\n  b\n",
        "repeat:\n  a\nagain if: b\n",
        "receive: a to b from c to d\n",
        "a | x | y | z\n",
        "a [[[[ [ \" ' | b\n",
        "go to: #x\n",
        "- - - - - x\n",
    ],
)
def test_the_time_is_linear(piece: str) -> None:
    """Eight times the lines take about eight times as long, not 64 times."""
    small = min(seconds_to_read(piece * 300) for _ in range(3))
    assert min(seconds_to_read(piece * 2400) for _ in range(2)) < max(small, 0.02) * 24


@pytest.mark.parametrize("piece", ["x ", "[", "|", '"', "#", "a, ", "- ", "from ", "s1,", "( "])
def test_a_long_line_takes_no_longer(piece: str) -> None:
    lines = [f"{keyword}{piece * 20_000}\n" for keyword in ("", "if: ", "receive: ", "again if: ")]
    assert seconds_to_read("".join(lines)) < 5


def test_fmt_writes_the_canonical_form(tmp_path: Path) -> None:
    path = tmp_path / "order.outline"
    path.write_text("choose in stock?\n\tif: yes\n\t\tpack goods|clerk\n\telse\n\t\torder goods\n")
    checked = orgflowc("fmt", "--check", path)
    assert (checked.code, "is not in canonical form" in checked.err) == (1, True)
    assert orgflowc("fmt", path).code == 0
    assert path.read_text() == STOCK
    assert orgflowc("fmt", "--check", path).code == 0
    path.write_text("a\nif: x\n")
    assert orgflowc("fmt", path).code == 1
    assert path.read_text() == "a\nif: x\n"
    other = tmp_path / "order.triples"
    other.write_text("Start -> a -> End\n")
    refused = orgflowc("fmt", other)
    assert refused.code == 2
    assert "has no canonical form" in refused.err
