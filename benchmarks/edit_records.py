"""Records of judged edits, one file for each model, so that a run continues where another ended.

A truth is valid as long as the harness and the workflows are the same, the opinions of the commands
as long as the product is the same as well.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
HARNESS = ("edit_kinds.py", "edit_truth.py", "edit_subjects.py", "edit_tools.cjs")
PRODUCT = (
    "orgflow_ir",
    "backends",
    "frontends",
    "passes",
    "agents",
    "compilation",
    "api.py",
    "compiler.py",
)
"""Files and folders of the commands."""
SUFFIXES = (".py", ".cjs", ".js", ".json", ".toml")

Json = dict[str, Any]


def hash_text(value: Any) -> str:
    """A name for a value of JSON."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def hash_files(paths: Iterable[Path]) -> str:
    """A name for the content of files."""
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(f"{path}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:32]


@functools.cache
def hash_harness() -> str:
    """A name for the code on which a truth depends."""
    engine = (ROOT / "backends" / "n8n" / "js").glob("*.cjs")
    return hash_files([*(Path(__file__).with_name(name) for name in HARNESS), *engine])


@functools.cache
def hash_product() -> str:
    """A name for the code of the commands, and of this benchmark."""
    files = [Path(__file__).with_name("data_edits.py")]
    for name in PRODUCT:
        path = ROOT / name
        inside = path.rglob("*") if path.is_dir() else [path]
        files += [file for file in inside if file.suffix in SUFFIXES and file.is_file()]
    return hash_files(files)


class EditRecord:
    """What is known of the edits of one model.

    Args:
        folder: of all records.
        identity: what makes up the model, its workflows and the run, as JSON.
    """

    def __init__(self, folder: Path, identity: Any) -> None:
        self._path = folder / f"{hash_text([identity, hash_harness()])}.json"
        self._known: Json = {"truths": {}}
        if self._path.exists():
            self._known = json.loads(self._path.read_text("utf-8"))

    def read_subject(self) -> tuple[list[Json], list[str]] | None:
        """The inputs of the model and their outcomes."""
        known = self._known.get("subject")
        return None if known is None else (known[0], known[1])

    def write_subject(self, inputs: list[Json], outcomes: list[str]) -> None:
        """Keep the inputs of the model and their outcomes."""
        if "subject" not in self._known:
            self._known["subject"] = [inputs, outcomes]
            self._save()

    def read_truth(self, workflows: Json, reading: str) -> bool | None:
        """Whether an edit differs on the engine, with a way to read outcomes."""
        truth: bool | None = self._known["truths"].get(hash_text([workflows, reading]))
        return truth

    def write_truth(self, workflows: Json, reading: str, differs: bool) -> None:
        """Keep whether an edit differs on the engine."""
        self._known["truths"][hash_text([workflows, reading])] = differs
        self._save()

    def read_result(self, each: int) -> tuple[list[Any], str] | None:
        """The judgements of a number of edits as rows, if the product is the same."""
        known = self._known.get("result")
        if known is None or known[:2] != [hash_product(), each]:
            return None
        return known[2], known[3]

    def write_result(self, each: int, result: tuple[list[Any], str]) -> None:
        """Keep the judgements of a number of edits."""
        self._known["result"] = [hash_product(), each, *result]
        self._save()

    def _save(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        part = self._path.with_suffix(".part")
        part.write_text(json.dumps(self._known, ensure_ascii=False), "utf-8")
        part.replace(self._path)
