"""Code: JavaScript or Python with any effect on the items."""

from __future__ import annotations

from typing import Any, Final

from orgflow.backends.n8n.node_types.behaviour import Behaviour, unknown_behaviour
from orgflow.backends.n8n.node_types.node_type import NodeType, Parameters, Use


def code_parameters(code: str) -> dict[str, Any]:
    """Parameters that run JavaScript once with all items."""
    return {"jsCode": code}


RUNNERS: Final = "N8N_RUNNERS_ENABLED=true"
"""The setting of n8n 1 with which expressions see everything that code returns."""

_OPEN: Final = "const made = await (async () => {\n"
_CLOSE: Final = """
})();
// n8n 1 shows to expressions only objects that it has created itself, unless it has task runners.
const plain = (value) =>
  value === null || typeof value !== "object"
    ? value
    : Array.isArray(value)
      ? value.reduce((all, one) => (all.push(plain(one)), all), $jmespath({}, "keys(@)"))
      : Object.entries(value).reduce(
          (all, [name, one]) => ((all[name] = plain(one)), all),
          $jmespath({}, "@"),
        );
return plain(JSON.parse(JSON.stringify(made)));"""


def is_visible(code: str) -> bool:
    """Whether code ends like that of `visible_code`."""
    return " ".join(code.split()).endswith(" ".join(_CLOSE.split()))


def visible_code(parameters: dict[str, Any]) -> dict[str, Any]:
    """The same code for n8n 1, whose output expressions of later nodes can read.

    In n8n 1, code is run by vm2 by default, and what it returns consists of proxies. The bridge to
    the isolate in which expressions are evaluated copies no proxies: `$('Code').first()` is
    undefined there without an error, also at later nodes that only pass the item on (measured on
    1.123.81). Objects that a function of n8n returns are real ones, so the output is copied into
    these.
    """
    return {**parameters, "jsCode": f"{_OPEN}{parameters['jsCode']}{_CLOSE}"}


def gives_one_item(parameters: Parameters) -> bool:
    """Whether the last line of the code shows that it outputs exactly one item."""
    text = parameters.get("jsCode")
    if not isinstance(text, str) or "mode" in parameters:
        return False
    return text.removesuffix(_CLOSE).rstrip().rpartition("\n")[2].startswith("return [{ json: {")


def _node_behaviour(use: Use) -> Behaviour:
    return unknown_behaviour(1)


NODE = NodeType(
    name="code",
    label="Code",
    emitted=True,
    versions=((2,), (2,)),
    behaviour=_node_behaviour,
    scripts=("jsCode", "pythonCode"),
    task="script",
)
