"""Records of calls: one file per call, named by the hash of the question, so that the same question
is answered from the file at no cost."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from orgflow_ir.model.records import NamedTuple
from orgflow_ir.pipeline.agent_services import Reply, ToolCall
from orgflow_ir.pipeline.services import ServiceError

VERSION = 1
SHORTEST_SECRET = 8
"""Shorter keys are those of local servers, such as `none` or `x`: they are not secret, and they are
words of recorded texts."""


def call_hash(request: Mapping[str, Any]) -> str:
    """The name of a request, which depends on its content and not on the order of keys."""
    text = json.dumps(request, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def without_secret(value: Any, secret: str) -> Any:
    """A text or JSON data, with `[key]` in place of the key of an endpoint."""
    if len(secret) < SHORTEST_SECRET:
        return value
    if isinstance(value, str):
        return value.replace(secret, "[key]")
    if isinstance(value, Mapping):
        return {name: without_secret(inner, secret) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [without_secret(inner, secret) for inner in value]
    return value


class Recorded(NamedTuple):
    """The conditions under which the calls of a folder were made.

    Attributes:
        model: the name of the model.
        redacted: whether personal data was replaced; `None` if the record does not state it.
    """

    model: str
    redacted: bool | None


def recorded_with(folder: str | os.PathLike[str]) -> Recorded | None:
    """The conditions of the first call in a folder; `None` if none can be read."""
    for path in sorted(Path(folder).glob("??/*.json")):
        try:
            record = json.loads(path.read_text("utf-8"))
            return Recorded(str(record["request"]["model"]), record.get("redacted"))
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return None


class Recordings:
    """A folder of recorded calls. Several processes may use one folder.

    Args:
        secrets: texts that no record may contain.
        redacted: whether personal data is replaced in records from now on.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        secrets: tuple[str, ...] = (),
        *,
        redacted: bool = False,
    ) -> None:
        self.folder = Path(folder)
        self._secrets = secrets
        self._redacted = redacted

    def _record_path(self, name: str) -> Path:
        return self.folder / name[:2] / f"{name}.json"

    def find(self, request: Mapping[str, Any]) -> Reply | None:
        """The recorded reply to a request, `None` if it does not exist or its file is damaged."""
        try:
            record = json.loads(self._record_path(call_hash(request)).read_text("utf-8"))
            reply = record["reply"]
            return Reply(
                str(reply["text"]), int(reply["tokens_in"]), int(reply["tokens_out"]),
                tuple(ToolCall(*(str(part) for part in call)) for call in reply["calls"]),
                bool(reply.get("truncated", False)),
            )  # fmt: skip
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def keep(self, request: Mapping[str, Any], reply: Reply) -> None:
        """Write the record of a call, completely or not at all. Raises `ServiceError`."""
        path = self._record_path(call_hash(request))
        record = {
            "version": VERSION, "redacted": self._redacted,
            "request": request, "reply": reply._asdict(),
        }  # fmt: skip
        for secret in self._secrets:
            record = without_secret(record, secret)
        text = json.dumps(record, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
        beside = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            beside.write_text(text, "utf-8")
            os.replace(beside, path)
        except OSError as error:
            raise ServiceError(f"calls cannot be recorded in {self.folder}: {error}") from None
