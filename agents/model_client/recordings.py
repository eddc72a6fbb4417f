"""Records of calls: one file a call, named by the hash of what was asked, so that asking the same
again is answered from the file and costs nothing."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from orgflow_ir.pipeline.agent_services import Reply, ToolCall
from orgflow_ir.pipeline.services import ServiceError

VERSION = 1


def call_hash(request: Mapping[str, Any]) -> str:
    """The name of a request: the same for the same content, whatever the order of keys."""
    text = json.dumps(request, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


class Recordings:
    """A folder of recorded calls. Several processes may use one folder."""

    def __init__(self, folder: str | os.PathLike[str], secrets: tuple[str, ...] = ()) -> None:
        self.folder = Path(folder)
        self._secrets = tuple(s for s in secrets if s)

    def _path(self, name: str) -> Path:
        return self.folder / name[:2] / f"{name}.json"

    def find(self, request: Mapping[str, Any]) -> Reply | None:
        """The recorded reply to a request, `None` where there is none or its file is damaged."""
        try:
            found = json.loads(self._path(call_hash(request)).read_text("utf-8"))
            reply = found["reply"]
            return Reply(
                str(reply["text"]), int(reply["tokens_in"]), int(reply["tokens_out"]),
                tuple(ToolCall(*(str(part) for part in call)) for call in reply["calls"]),
                bool(reply.get("truncated", False)),
            )  # fmt: skip
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def keep(self, request: Mapping[str, Any], reply: Reply) -> None:
        """Write the record of a call, whole or not at all. Raises `ServiceError`."""
        path = self._path(call_hash(request))
        record = {"version": VERSION, "request": request, "reply": reply._asdict()}
        text = json.dumps(record, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
        for secret in self._secrets:
            text = text.replace(json.dumps(secret)[1:-1], "[key]")
        beside = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            beside.write_text(text, "utf-8")
            os.replace(beside, path)
        except OSError as error:
            raise ServiceError(f"calls cannot be recorded in {self.folder}: {error}") from None
