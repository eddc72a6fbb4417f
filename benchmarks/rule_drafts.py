"""Lost clauses and invented steps of drafts by rules, on texts labelled by hand:
`python benchmarks/rule_drafts.py [--show] [FILE|DIR…]`.

A file has a text, a line of `---`, and one clause of the text per line: `CLAUSE = FORM; FORM…`. A
form is `check order` (a step: its verb first, in German last; `a/b` are alternatives for a word),
`? words` (a condition), `@ words` (an event) or `-` (nothing to draw). A clause is lost if no
element that cites its sentence has one of its forms; it is reported if a warning points into it, or
says that no element cites its sentence. A step is invented if no clause of its sentences has it as
a form. Drafts that model too little are measured as
well (`--force`). Without files, all texts of the tests are measured.
`--show` prints the lost clauses that were not reported, and the invented steps.
"""

from __future__ import annotations

import argparse
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from orgflow.agents.text.rule_based import FORCE, RuleModeller

from orgflow_ir.model import Event, Gateway, Model, Node, Task
from orgflow_ir.model.source import SourceLocation
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Document, Registry

TEXTS = Path(__file__).resolve().parent.parent / "tests" / "agents" / "rule_texts"
WARNING, UNCITED = "OF518", "no element of the draft cites"
_GERMAN = re.compile(r"\b(?:der|die|das|und|wird|ist|den)\b", re.IGNORECASE)


@dataclass
class LabelledClause:
    """A clause of a text with its span in characters, and its forms."""

    text: str
    span: tuple[int, int]
    forms: tuple[str, ...]

    @property
    def stated(self) -> bool:
        """Whether a model of the text has to have the clause."""
        return self.forms != ("-",)


@dataclass
class LabelledText:
    """A text with its clauses."""

    name: str
    text: str
    clauses: list[LabelledClause]

    @property
    def german(self) -> bool:
        """Whether the verb is the last word of a step."""
        return len(_GERMAN.findall(self.text)) > 2 or "Lieferschein" in self.text


@dataclass
class Counted:
    """Counts over texts, and the passages behind them."""

    clauses: int = 0
    lost: int = 0
    reported: int = 0
    steps: int = 0
    invented: int = 0
    unreported: list[str] = field(default_factory=list)
    strange: list[str] = field(default_factory=list)

    def add(self, other: Counted) -> None:
        """Add the counts of another text."""
        for name in ("clauses", "lost", "reported", "steps", "invented"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.unreported += other.unreported
        self.strange += other.strange

    def row(self, name: str) -> str:
        """A line of the table."""
        found = self.reported / self.lost if self.lost else 1.0
        share = self.invented / self.steps if self.steps else 0.0
        return (
            f"{name:<18} {self.clauses:>7} {self.lost:>5} {self.reported:>8} {found:>7.1%}"
            f" {self.steps:>6} {self.invented:>8} {share:>7.1%}"
        )


HEADER = (
    f"{'texts':<18} {'clauses':>7} {'lost':>5} {'reported':>8} {'share':>7}"
    f" {'steps':>6} {'invented':>8} {'share':>7}"
)


def read_labelled(path: Path) -> LabelledText:
    """A file of the format above. Raises `ValueError` for a clause that its text lacks."""
    text, _, labels = path.read_text("utf-8").partition("\n---\n")
    clauses = []
    for line in filter(None, labels.splitlines()):
        clause, _, forms = line.rpartition(" = ")
        at = text.find(clause)
        if at < 0:
            raise ValueError(f"{path.name}: the text has no {clause!r}")
        listed = tuple(form.strip() for form in forms.split(";"))
        clauses.append(LabelledClause(clause, (at, at + len(clause)), listed))
    return LabelledText(path.stem, text, clauses)


def _fold_words(text: str) -> list[str]:
    plain = "".join(
        c for c in unicodedata.normalize("NFD", text.lower()) if c.isalnum() or c in " -,.'"
    )
    return [w.strip(".,'") for w in re.split(r"[\s-]+", plain.replace("ß", "ss")) if w.strip(".,'")]


def _is_form_of(word: str, other: str) -> bool:
    """Whether two words are probably forms of one."""
    if word == other:
        return True
    shared = max(3, min(len(word), len(other)) - 2)
    return word[:shared] == other[:shared] and abs(len(word) - len(other)) < 5


def _has_words(form: Sequence[str], words: Sequence[str]) -> bool:
    """Whether each word of a form, in one of its alternatives, is among these."""
    return all(
        any(_is_form_of(other, word) for other in wanted.split("/") for word in words)
        for wanted in form
    )


def has_step(form: str, name: str, *, german: bool) -> bool:
    """Whether a step of this name is of this form: its verb, and all its words."""
    wanted = ["/".join(_fold_words(part.replace("/", " "))) for part in form.split()]
    words = _fold_words(name)
    if not words or not wanted:
        return False
    verb, place = (wanted[-1], words[-1]) if german else (wanted[0], words[0])
    return _has_words([verb], [place]) and _has_words(wanted, words)


def count_draft(labelled: LabelledText) -> Counted:
    """Draft a text and compare the draft with its labels."""
    ctx = PassContext(registry=Registry(), options={FORCE: True})
    drafted = RuleModeller().produce([Document(labelled.name, labelled.text)], ctx)
    model = drafted or Model(id="empty")
    nodes = [node for scope in model.scopes() for node in scope.nodes]
    labels = [
        (flow.name, _cited_spans(n for n in scope.nodes if n.id in (flow.source, flow.target)))
        for scope in model.scopes() for flow in scope.flows if flow.name
    ]  # fmt: skip
    warnings = [d for d in ctx.diagnostics if d.code == WARNING and d.loc is not None]
    counted = Counted()
    german = labelled.german
    for clause in (c for c in labelled.clauses if c.stated):
        counted.clauses += 1
        if any(_is_drawn(form, clause, nodes, labels, german=german) for form in clause.forms):
            continue
        counted.lost += 1
        if any(_is_about(d.message, d.loc, clause, labelled.text) for d in warnings):
            counted.reported += 1
        else:
            counted.unreported.append(f"{labelled.name}: {clause.text}")
    for task in (n for n in nodes if isinstance(n, Task)):
        counted.steps += 1
        near = [c for c in labelled.clauses if _overlaps(c.span, _cited_spans((task,)))]
        if not any(has_step(f, task.name, german=german) for c in near for f in c.forms):
            counted.invented += 1
            counted.strange.append(f"{labelled.name}: {task.name}")
    return counted


def _cited_spans(nodes: Iterable[Node]) -> list[tuple[int, int]]:
    return [e.span for node in nodes for e in node.evidence if e.span is not None]


def _overlaps(span: tuple[int, int], others: Iterable[tuple[int, int]]) -> bool:
    return any(span[0] < end and begin < span[1] for begin, end in others)


def _is_drawn(
    form: str,
    clause: LabelledClause,
    nodes: Sequence[Node],
    labels: Sequence[tuple[str, list[tuple[int, int]]]],
    *,
    german: bool,
) -> bool:
    """Whether an element that cites the sentence of a clause has this form."""
    cited = [node for node in nodes if _overlaps(clause.span, _cited_spans((node,)))]
    words = ["/".join(_fold_words(part.replace("/", " "))) for part in form[1:].split()]
    match form[:1]:
        case "?":
            texts = [name for name, spans in labels if _overlaps(clause.span, spans)]
            texts += [n.name for n in cited if isinstance(n, Gateway | Event)]
            return any(_has_words(words, _fold_words(text)) for text in texts)
        case "@":
            events = [n for n in cited if isinstance(n, Event) and n.definitions]
            return any(_has_words(words, _fold_words(_event_text(n))) for n in events)
        case "~":
            return any(isinstance(n, Gateway) for n in cited)
        case "-" | "^":
            return False
    return any(has_step(form, n.name, german=german) for n in cited if isinstance(n, Task))


def _event_text(event: Event) -> str:
    """The name of an event; the words of its clause are in it."""
    return event.name


def _is_about(message: str, loc: SourceLocation | None, clause: LabelledClause, text: str) -> bool:
    """Whether a warning points into a clause, or is about its whole sentence."""
    assert loc is not None
    lines = text.splitlines(keepends=True)
    at = sum(map(len, lines[: (loc.line or 1) - 1])) + (loc.column or 1) - 1
    if clause.span[0] <= at < clause.span[1]:
        return True
    behind = re.search(r"[.!?](?:\s|$)|\n\s*(?:\n|[-*\d])", text[at:])
    end = at + (behind.end() if behind is not None else len(text))
    return message.startswith(UNCITED) and at <= clause.span[0] and clause.span[1] <= end


def main() -> None:
    """Print the counts of each folder, and of all texts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="*", type=Path)
    parser.add_argument("--show", action="store_true", help="print the passages behind the counts")
    arguments = parser.parse_args()
    paths = arguments.paths or sorted(path for path in TEXTS.iterdir() if path.is_dir())
    everything, by_language = Counted(), {"English": Counted(), "German": Counted()}
    print(HEADER)
    for path in paths:
        part = Counted()
        for file in sorted(path.glob("*.txt")) if path.is_dir() else [path]:
            labelled = read_labelled(file)
            counted = count_draft(labelled)
            part.add(counted)
            by_language["German" if labelled.german else "English"].add(counted)
        print(part.row(path.stem))
        everything.add(part)
        if arguments.show:
            print(*(f"  not reported  {line}" for line in part.unreported), sep="\n")
            print(*(f"  invented      {line}" for line in part.strange), sep="\n")
    for language, counted in by_language.items():
        print(counted.row(language))
    print(everything.row("all"))


if __name__ == "__main__":
    main()
