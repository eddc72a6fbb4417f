"""Recall and false alarms of the redaction of personal data on labelled texts:
`python benchmarks/redaction.py [--show] [FILE…]`.

A file has texts separated by lines of `---`; in them each piece of personal data is marked with
its kind, as in `«PERSON Anna Schmidt»`. All texts of a file are redacted as one batch, with the
parser of names and without. A piece counts as found where none of its letters and digits is left; a
false alarm is a replaced passage that overlaps no mark. Without files, the sample of the tests is
measured.
`--show` prints what was missed and what was replaced wrongly.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from orgflow.agents.model_client.redaction import Redactor

SAMPLE = Path(__file__).resolve().parent.parent / "tests" / "agents" / "personal_data"
_MARK = re.compile(r"«([A-Z]+) ([^»]+)»")


@dataclass
class Measured:
    """Counts by kind, and the passages behind them."""

    marked: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    missed: list[str] = field(default_factory=list)
    false_alarms: list[str] = field(default_factory=list)
    words: int = 0

    @property
    def recall(self) -> float:
        """The share of the marked pieces of which nothing is left."""
        return sum(self.found.values()) / max(1, sum(self.marked.values()))


def labelled(text: str) -> tuple[str, list[tuple[int, int, str]]]:
    """A text without its marks, and where the marked pieces are, with their kinds."""
    plain, marks, at = "", list[tuple[int, int, str]](), 0
    for match in _MARK.finditer(text):
        plain += text[at : match.start()]
        marks.append((len(plain), len(plain) + len(match[2]), match[1]))
        plain, at = plain + match[2], match.end()
    return plain + text[at:], marks


def measure(paths: Sequence[Path], *, use_parser: bool) -> Measured:
    """Each file as one batch with a redactor of its own."""
    result = Measured()
    for path in paths:
        texts = [labelled(text) for text in path.read_text("utf-8").split("\n---\n")]
        redactor = Redactor(use_parser=use_parser)
        redactor.learn([text for text, _ in texts])
        for text, marks in texts:
            result.words += len(text.split())
            spots = redactor.spots(text)
            covered = {at for start, end, _ in spots for at in range(start, end)}
            for start, end, kind in marks:
                result.marked[kind] += 1
                left = [at for at in range(start, end) if text[at].isalnum() and at not in covered]
                if left:
                    result.missed.append(f"{kind} {text[start:end]!r}")
                else:
                    result.found[kind] += 1
            for start, end, kind in spots:
                if not any(start < other and begin < end for begin, other, _ in marks):
                    result.false_alarms.append(f"{kind} {text[start:end]!r}")
    return result


def main() -> None:
    """Print a line per file and way of finding names, then the totals by kind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    files = given.files or sorted(SAMPLE.glob("*.txt"))
    print(f"{'':<32}{'marked':>8}{'recall':>8}{'false alarms':>14}{'words':>8}")
    for use_parser in (True, False):
        how = "with parser" if use_parser else "by form"
        for name, paths in (*((path.stem, [path]) for path in files), ("all", files)):
            found = measure(paths, use_parser=use_parser)
            print(
                f"{name + ', ' + how:<32}{sum(found.marked.values()):>8}{found.recall:>8.3f}"
                f"{len(found.false_alarms):>14}{found.words:>8}"
            )
            if given.show and name != "all":
                for title, lines in (("missed", found.missed), ("wrong", found.false_alarms)):
                    for line in lines:
                        print(f"    {title}: {line}")
            if name == "all":
                for kind, count in sorted(found.marked.items()):
                    print(f"    {kind}: {found.found[kind]} of {count}")


if __name__ == "__main__":
    main()
