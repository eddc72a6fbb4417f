"""Answers of a language model without an endpoint: `discovery_requests.py STORE RECORDS [MODEL]`.

Writes each request of discovery that RECORDS does not answer to `RECORDS/requests/NAME.txt`.
Whoever answers it writes the answer to `RECORDS/requests/NAME.answer.txt`; the next run records it,
so that `orgflowc eval messages STORE TRUTH --record RECORDS --replay --model MODEL` uses it. A
correction depends on the answer before it: repeat until nothing is written. Exit code 1 while
requests are open. Prints the tokens of open requests by the estimate of the client.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from orgflow.agents.discovery.agent import discover_with_model
from orgflow.agents.discovery.discover import group_messages
from orgflow.agents.model_client.client import OpenAIModelClient
from orgflow.agents.model_client.recordings import Recordings, call_hash
from orgflow.agents.model_client.settings import read_settings
from orgflow.agents.model_client.usage import estimate_tokens
from orgflow.store.embedder import local_embedder
from orgflow.store.messages import MessageStore

from orgflow_ir.pipeline.agent_services import Reply, Tool
from orgflow_ir.pipeline.services import NotRecorded


class Clerk:
    """A language model that answers from records, and keeps the requests that it cannot answer."""

    def __init__(self, client: OpenAIModelClient, folder: Path) -> None:
        self._client, self._folder = client, folder
        self.open: dict[str, str] = {}

    @property
    def name(self) -> str:
        """Of the model."""
        return self._client.name

    def ask(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        schema: Mapping[str, Any] | None = None,
        tools: Sequence[Tool] = (),
    ) -> Reply:
        """The recorded answer. Raises `NotRecorded`."""
        try:
            return self._client.ask(messages, schema=schema, tools=tools)
        except NotRecorded as error:
            text = "\n\n".join(f"== {m['role']}\n{m.get('content', '')}" for m in messages)
            if tools:
                text += f"\n\n== tools\n{', '.join(tool.name for tool in tools)}"
            name = call_hash(error.request)
            self.open[name] = text
            (self._folder / f"{name}.txt").write_text(text, "utf-8")
            (self._folder / f"{name}.json").write_text(json.dumps(error.request), "utf-8")
            raise


def record_answers(folder: Path, records: Path) -> int:
    """Record the answers that were written since the last run. Returns their number."""
    kept = 0
    for answer in sorted(folder.glob("*.answer.txt")):
        path = folder / f"{answer.name.removesuffix('.answer.txt')}.json"
        if not path.exists():
            continue
        request, text = json.loads(path.read_text("utf-8")), answer.read_text("utf-8")
        sent = estimate_tokens(str(m.get("content", "")) for m in request["messages"])
        Recordings(records).keep(request, Reply(text, sent, estimate_tokens([text])))
        for done in (path, path.with_suffix(".txt"), answer):
            done.unlink(missing_ok=True)
        kept += 1
    return kept


def main(store: str, records: str, model: str = "recorded") -> int:
    """Record answers, run discovery, and write the open requests."""
    folder = Path(records) / "requests"
    folder.mkdir(parents=True, exist_ok=True)
    kept = record_answers(folder, Path(records))
    settings = read_settings(
        {"ORGFLOW_MODEL_URL": "http://127.0.0.1:9", "ORGFLOW_MODEL": model},
        {}, {"record": records, "replay": True, "redact": "off"},
    )  # fmt: skip
    clerk = Clerk(OpenAIModelClient(settings), folder)
    with MessageStore.open(store) as opened:
        embedder = opened.cached(local_embedder())
        messages = list(opened.messages())
        _, report = discover_with_model(group_messages(messages, embedder), embedder, clerk)
    size = estimate_tokens(clerk.open.values())
    print(
        f"{kept} answers recorded; {len(clerk.open)} requests are open, about {size:,} tokens, "
        f"{size / max(1, len(messages)):.0f} a message; {report.structures} structures stated"
    )
    return int(bool(clerk.open))


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
