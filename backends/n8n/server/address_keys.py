"""Random keys in the addresses that start workflows, so that they cannot be guessed.

Every compilation produces the same paths of webhooks and pages. `deploy --keys` appends a random
key to each path. Later deployments keep the key, with `--keys` or without. It counts neither as an
edit nor as a difference.
"""

from __future__ import annotations

import copy
import re
import secrets
from collections.abc import Iterator, Mapping
from typing import Any, Final

from orgflow.backends.n8n import node_types
from orgflow.backends.n8n.format.document import short_type

Json = dict[str, Any]

_KEY: Final = re.compile(r"-key[0-9a-f]{24}$")


def without_keys(workflow: Mapping[str, Any]) -> Json:
    """A copy of a workflow whose paths have no keys."""
    stripped: Json = {**workflow}
    rows = workflow.get("nodes") or ()
    if any(_KEY.search(holder["path"]) for row in rows for holder in _path_holders(row)):
        stripped["nodes"] = copy.deepcopy(list(rows))
        for row in stripped["nodes"]:
            for holder in _path_holders(row):
                holder["path"] = _KEY.sub("", holder["path"])
    return stripped


class AddressKeys:
    """The keys that one deployment assigns.

    Args:
        new: whether created workflows get keys.
    """

    def __init__(self, new: bool = False) -> None:
        self._new = new
        self._given: dict[tuple[str, str], str] = {}

    def put(self, body: Json, identity: str, old: Mapping[str, Any] | None) -> None:
        """Append keys to the paths of a workflow: those of the same nodes in `old`, the existing
        workflow. Another node gets a key if those of `old` have one or, in a created workflow, if
        keys are requested; the key is the same for the whole deployment."""
        known = {
            node_identity: key_there[0]
            for row in (old or {}).get("nodes", ())
            for holder in _path_holders(row)
            if (key_there := _KEY.search(holder["path"])) is not None
            for node_identity in (str(row.get("id")), str(row.get("name")))
        }
        keyed = bool(known) or (self._new and old is None)
        for row in body["nodes"] if keyed else ():
            for holder in _path_holders(row):
                id, name = str(row.get("id")), str(row.get("name"))
                key = known.get(id) or known.get(name) or self._given.get((identity, id))
                if key is None:
                    key = self._given[identity, id] = f"-key{secrets.token_hex(12)}"
                if not _KEY.search(holder["path"]):
                    holder["path"] += key


def _path_holders(row: Any) -> Iterator[Json]:
    """The objects of a node that have its path, which is no expression."""
    kind = node_types.find_type(short_type(row) or "") if isinstance(row, Mapping) else None
    if kind is None or kind.start != "message":
        return
    parameters = row.get("parameters")
    options = parameters.get("options") if isinstance(parameters, Mapping) else None
    for holder in (parameters, options):
        if isinstance(holder, dict):
            path = holder.get("path")
            if isinstance(path, str) and path and not path.startswith("="):
                yield holder
