"""The sentences that people read, collected from the sources: messages and help of diagnostics,
explain pages, command help, documentation, scaffolds, HTML templates and public docstrings.

`python tests/support/sentences.py --seed 3 --count 50` draws 50 of them; `--area explain` draws
from one area, `--all` prints every sentence, `--habits` those that break the list `HABITS`.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = (
    "orgflow_ir", "frontends", "passes", "backends", "agents", "store", "compilation", "evaluation",
    "commands",
)  # fmt: skip
FILES = ("api.py", "cli.py", "compiler.py")
CORE = ("orgflow_ir/", "frontends/", "passes/")
"""Folders whose messages are the area `messages`; those of the others are `commands`."""
TEMPLATES = ("commands/templates", "evaluation/templates")
NOT_READ = ("evaluation/corpus/", "backends/n8n/format/merge_base.py")
"""Invented mails and chats, and phrases that stored workflows are packed with."""
GENERATED = ("docs/reference/", "docs/bindings.md")
"""Pages made from the code: their sentences are collected there."""
MIN_WORDS = 4
AREAS = ("messages", "commands", "help", "explain", "docstrings", "templates", "docs")

_WORD = re.compile(r"[A-Za-z][a-z'’-]*")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')]?\s+(?=[A-Z`*\"'(])")
_CODE = re.compile(
    r"[;{}]\s*\n|=>|\bfunction\s*\(|</?\w+[ >]|\(\?[:P!=<]|\\[bswd]|^\s*(import|SELECT|INSERT)\b"
    r"|@\w+ @\w|/api/v1/|\w>\w"
)
_ITEM = re.compile(r"\s*(([-*|#>]|\d+\.)\s?|\w+ ?(\([\w, ]*\))?:\s)")
_HEADING = re.compile(r"(What it finds|Why it is wrong|Example|Instead)$|\S.*\?$")
_FENCE = re.compile(r"^\s*```")


class Sentence(NamedTuple):
    """A sentence, with the file and line of the text it stands in."""

    area: str
    path: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: [{self.area}] {self.text}"


class Habit(NamedTuple):
    """A pattern that reads as a translation, and the words to write instead."""

    pattern: str
    instead: str


HABITS: tuple[Habit, ...] = (
    Habit(r"\b(is|are|was|be) told\b", "is reported"),
    Habit(r"\bwithout a word\b|\bsays nothing\b|\bnothing says so\b", "silently"),
    Habit(r"\b[Nn]othing says (when|what|which|who|how)\b", "it is undefined when"),
    Habit(r"\bdo(es)? not say (when|what|which|who|how|whether)\b", "does not define when"),
    Habit(r"\bways? (through|out)\b|\b(every|each) way\b", "path, branch, outgoing flow"),
    Habit(r"\bmend(s|ed)?\b|\banew\b|\bfor ever\b", "fix, again, indefinitely"),
    Habit(r"\bheld against\b|\bholds? .{1,30} to the engine\b", "compared with"),
    Habit(r"\bwhat (a|each|the|that|this) target can(not)? say\b", "the target supports"),
    Habit(r"\bwork (that is )?done twice\b", "duplicate execution"),
    Habit(r"\bdraw its content\b", "move its steps into the parent process"),
    Habit(r"\b(is|are) not there\b", "does not exist, is missing"),
    Habit(r"\bside by side\b(?!.*\b(page|show|print|see|text)|[ .]*$)", "in parallel"),
    Habit(r"\b(is|are) (still )?under way\b", "is active"),
    Habit(r"\bbroken? off\b|\bbreaks off\b", "interrupted"),
    Habit(r"\bnot to be had\b|\bto be had\b", "not available"),
    Habit(r"\bof which the (model|file) does not\b", "that the model does not"),
    Habit(r"\b[Gg]ive the (same )?command again\b", "run the command again"),
    Habit(r"\b[Nn]othing need be wrong\b", "this may be intended"),
    Habit(r"\b[Mm]ostly (a|an|the) \w+ was\b", "usually"),
    Habit(r"\bhand(s|ed)? (it |them )?on\b", "pass on"),
    Habit(r"\bmisuse or our fault\b|\bour fault\b", "usage error or internal error"),
    Habit(r"\b(a|an) \w+ of (its|their|one's) own\b", "its own"),
    Habit(r"\bwhat is around it\b|\bto be judged by\b", "a noun"),
    Habit(r"\bnot \w+ any more\b", "no longer"),
    Habit(r"(?<!there )\bis no (JSON|Python|XML|BPMN|FEEL|DMN|list|object|text)\b", "is not"),
    Habit(r"(?<!there )\b(is|are) no (model|tuple|subclass|construct|note|target)\b", "is not a"),
    Habit(r"\bnobody asked\b", "was not asked"),
    Habit(r"\band said nothing\b", "reported nothing"),
    Habit(r"\bworse than\b.*\bworse than\b", "one comparison"),
    Habit(r"\bnothing leads to\b", "without incoming flows"),
    Habit(r"\bknown outside\b", "leaves the task, is local to the task"),
    Habit(r"\b(not|never) to be changed\b", "do not modify"),
    Habit(r"\bbeside each other\b", "in parallel"),
    Habit(r"\bkeeps? the contract\b", "obeys the contract"),
    Habit(r"\bwhat is found is true\b", "every finding is a fact"),
    Habit(r"\bthree truth values\b", "three-valued logic"),
    Habit(r"\bgo(es)? all (outgoing|ways)\b", "takes all outgoing flows"),
    Habit(r"\bcomes? round to\b", "is recursive, returns to"),
    Habit(r"\bwhere there (is|are) (none|no)\b", "if there is none"),
    Habit(
        r"\bso (many|much) (of|bytes|characters|states|memory|indices|times)\b", "maximum number"
    ),
    Habit(r"\bas far as\b(?! possible)", "the part that, within"),
    Habit(r"\bunder way\b", "active, in progress"),
    Habit(
        r"(?<!there )\b(is|are) no (date|time|duration|type|escape|value|status|store|truth|table"
        r"|operator|boolean|baseline|report)\b",
        "is not a",
    ),
    Habit(r"\bno longer there\b", "no longer exists"),
    Habit(r"\b(is|are) (not )?understood\b", "is supported"),
    Habit(r"\bbut for (what|the|those|a)\b", "except"),
    Habit(r"\bnothing where\b", "empty if"),
    Habit(r"\bwhat keeps\b.*\bfrom\b", "the reason why … cannot"),
    Habit(r"\btasks? of (a person|people)\b", "user task"),
    Habit(
        r"^what (a|an|the|is|was|were|becomes|keeps|does|gives|stands|changed|came|each)\b",
        "a noun",
    ),
    Habit(r"\ba (line|sentence|workflow|block|file) each\b", "one line per"),
    Habit(r"\bat most so\b|\bnested so deep\b", "maximum"),
    Habit(r"\b(says|said|tells) (so|why|which|what|that it)\b", "reports, gives the reason"),
    Habit(r"\bgive(s)? back\b|\bgiven back\b|\bhanded (on|out|to)\b", "returns, passes"),
    Habit(r"\bby hand\b", "manually"),
    Habit(r"\bas the model says\b|\bwhat the model says\b", "conforms to the model"),
)


def collect() -> list[Sentence]:
    """All sentences, in the order of areas and files."""
    found = [*_python(), *_templates(), *_pages()]
    return sorted(found, key=lambda s: (AREAS.index(s.area), s.path, s.line, s.text))


def habits(sentences: list[Sentence]) -> Iterator[tuple[Sentence, Habit]]:
    """Sentences that break the word list, with the entry each of them breaks first."""
    compiled = [(re.compile(habit.pattern, re.IGNORECASE), habit) for habit in HABITS]
    for sentence in sentences:
        plain = re.sub(r"`[^`]*`|\{[^{}]*\}", "`X`", sentence.text)
        for pattern, habit in compiled:
            if pattern.search(plain):
                yield sentence, habit
                break


def split(text: str) -> list[str]:
    """The sentences of a paragraph that have enough words to be judged."""
    flat = " ".join(text.split())
    return [s for part in _SENTENCE_END.split(flat) if _is_prose(s := part.strip())]


def _is_prose(text: str) -> bool:
    plain = re.sub(r"`[^`]*`|\{[^{}]*\}|https?://\S+", " ", text)
    words = _WORD.findall(plain)
    return len(words) >= MIN_WORDS and sum(w[0].islower() for w in words) * 2 >= len(words)


def _python() -> Iterator[Sentence]:
    paths = [ROOT / name for name in FILES]
    paths += [path for folder in PACKAGES for path in sorted((ROOT / folder).rglob("*.py"))]
    for path in paths:
        name = str(path.relative_to(ROOT))
        if name.startswith(NOT_READ):
            continue
        yield from _of_module(name, ast.parse(path.read_text()))


def _of_module(name: str, tree: ast.Module) -> Iterator[Sentence]:
    docs: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            for statement in node.body:  # docstrings, also those of attributes
                if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                    docs.add(id(statement.value))
    yield from _docstrings(name, tree, public=True)
    area = "messages" if name.startswith(CORE) else "commands"
    inner: set[int] = set()
    options: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            is_option = isinstance(node.func, ast.Attribute) and node.func.attr in (
                "option",
                "argument",
            )
            options |= {id(k.value) for k in node.keywords if k.arg == "help" and is_option}
        if isinstance(node, ast.JoinedStr):
            inner |= {id(part) for part in node.values}
        if id(node) in docs or id(node) in inner:
            continue
        text = _literal(node)
        if text is None or _CODE.search(text):
            continue
        for sentence in split(text):
            kind = "help" if id(node) in options else area
            yield Sentence(kind, name, node.lineno, sentence)  # type: ignore[attr-defined]


def _literal(node: ast.AST) -> str | None:
    """The text of a string or f-string; expressions in it as `{…}`."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(
            str(part.value) if isinstance(part, ast.Constant) else "{" + _short(part) + "}"
            for part in node.values
        )
    return None


def _short(part: ast.AST) -> str:
    value = part.value if isinstance(part, ast.FormattedValue) else part
    return re.sub(r"[{}`]", "", ast.unparse(value))[:30]


def _docstrings(name: str, node: ast.AST, public: bool) -> Iterator[Sentence]:
    """Docstrings of rules, of commands, and of public names."""
    if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return
    label = getattr(node, "name", "")
    is_rule = isinstance(node, ast.ClassDef) and _has_code(node)
    is_command = isinstance(node, ast.FunctionDef) and any(
        re.search(r"\b(command|group)\b", ast.unparse(d)) for d in node.decorator_list
    )
    shown = is_rule or is_command or (public and not label.startswith("_"))
    for statement in node.body:
        value = statement.value if isinstance(statement, ast.Expr) else None
        if shown and isinstance(value, ast.Constant) and isinstance(value.value, str):
            area = "explain" if is_rule else "help" if is_command else "docstrings"
            for line, paragraph in _paragraphs(inspect.cleandoc(value.value), value.lineno):
                for sentence in split(paragraph):
                    yield Sentence(area, name, line, sentence)
        if isinstance(statement, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _docstrings(name, statement, public and not label.startswith("_"))


def _has_code(node: ast.ClassDef) -> bool:
    return any(
        isinstance(s, ast.Assign)
        and isinstance(s.targets[0], ast.Name)
        and s.targets[0].id == "code"
        for s in node.body
    )


def _templates() -> Iterator[Sentence]:
    for folder in TEMPLATES:
        for path in sorted((ROOT / folder).glob("*.j2")):
            if ".css." in path.name:
                continue
            text = re.sub(r"\{#.*?#\}", "", path.read_text(), flags=re.DOTALL)
            text = re.sub(r"<(script|style).*?</\1>", _blank, text, flags=re.DOTALL)
            text = re.sub(r"\{%.*?%\}", " ", text)
            text = re.sub(r"\{\{.*?\}\}", "{x}", text)
            text = re.sub(r"<[^>]+>", " ", text)
            yield from _of_text("templates", str(path.relative_to(ROOT)), text)


def _blank(match: re.Match[str]) -> str:
    return "\n" * match.group().count("\n")


def _pages() -> Iterator[Sentence]:
    paths = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    paths += sorted((ROOT / "examples").rglob("README.md"))
    for path in paths:
        name = str(path.relative_to(ROOT))
        if not name.startswith(GENERATED):
            yield from _of_text("docs", name, _without_code(path.read_text()))


def _without_code(text: str) -> str:
    """Markdown without its code blocks, line for line."""
    lines, fenced = [], False
    for line in text.splitlines():
        if _FENCE.match(line):
            fenced = not fenced
            lines.append("")
        else:
            lines.append("" if fenced or line.startswith("    ") else line)
    return "\n".join(lines)


def _of_text(area: str, name: str, text: str) -> Iterator[Sentence]:
    for line, paragraph in _paragraphs(text, 1):
        for sentence in split(paragraph):
            yield Sentence(area, name, line, sentence)


def _paragraphs(text: str, first: int) -> Iterator[tuple[int, str]]:
    """Paragraphs, list items, table cells and headings, each with its first line."""
    start, lines = first, list[str]()
    for number, line in enumerate(text.splitlines(), first):
        begins = re.match(r"\s*([-*|#>]|\d+\.)\s?", line) or re.match(
            r"\s*\w+ ?(\([\w, ]*\))?:\s", line
        )
        heading = (not line.startswith(" ") and line.rstrip().endswith("?")) or re.match(
            r"(What it finds|Why it is wrong|Example|Instead)$", line
        )
        if (not line.strip() or begins or heading) and lines:
            yield start, " ".join(lines)
            lines = []
        if not line.strip() or heading:
            continue
        if line.lstrip().startswith("|"):
            yield from ((number, cell) for cell in line.strip().strip("|").split("|"))
            continue
        if not lines:
            start = number
        lines.append(re.sub(r"^\s*([-*#>]+|\d+\.)\s", "", line))
    if lines:
        yield start, " ".join(lines)


def main() -> None:
    """Print drawn sentences, all of them, or those that break the word list."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="seed of the draw")
    parser.add_argument("--count", type=int, default=50, help="how many sentences to draw")
    parser.add_argument("--area", choices=AREAS, help="draw from one area only")
    parser.add_argument("--all", action="store_true", help="print every sentence")
    parser.add_argument("--habits", action="store_true", help="print what breaks the word list")
    parser.add_argument("--totals", action="store_true", help="count the sentences of each area")
    asked = parser.parse_args()
    sentences = [s for s in collect() if asked.area in (None, s.area)]
    if asked.totals:
        for area, count in Counter(s.area for s in sentences).items():
            print(f"{count:6} {area}")
    elif asked.habits:
        for sentence, habit in habits(sentences):
            print(f"{sentence}\n    write: {habit.instead}")
    else:
        drawn = random.Random(asked.seed).sample(sentences, min(asked.count, len(sentences)))
        for sentence in sentences if asked.all else drawn:
            print(sentence)


if __name__ == "__main__":
    main()
