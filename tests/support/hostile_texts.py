"""Over 200 texts that look like code to n8n, and models that have them wherever text can be.

A text that is evaluated gives itself away: it comes out as another one, most as CANARY.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hostile_labels import HOSTILE
from orgflow.backends.n8n.format.document import short_type

from orgflow_ir.model import (
    Event,
    EventDefinition,
    Expression,
    Flow,
    Gateway,
    Lane,
    Model,
    Pool,
    Process,
    Task,
)

Json = dict[str, Any]

CANARY = "31337"
PACK = 13
"""The most texts in one model."""

_PAYLOADS = (
    "31336+1", "(() => 31336+1)()", "[31336+1][0]", "'3133'+'7'", "$json.x ?? 31336+1",
    "constructor.constructor('return 31336+1')()", "$execution.id", "$workflow.name",
)  # fmt: skip
_WRAPS = (
    "={{ P }}", "{{ P }}", "=P", "= P", "=`${P}`", "`${P}`", "${P}", "#{P}", "<%= P %>",
    "={{P}}x", "x={{ P }}", "=={{ P }}", " ={{ P }}", "\t={{ P }}", "\n={{ P }}", "\u200b={{ P }}",
    "\ufeff={{ P }}", "\u00a0={{ P }}", "＝{{ P }}", "=\u200b{{ P }}", "' + (P) + '",
    '" + (P) + "', "}} {{ P }} {{", "' }} {{ P }} {{ '", "\\' }}{{ P }}", "\\{{ P }}",
    "={{ '}}' + (P) }}", "</script><script>P</script>", "*/ P /*", "// \n P", "\u2028={{ P }}",
    "={{\u2029P}}", "=\\u007b\\u007b P }}",
)  # fmt: skip


def texts() -> tuple[str, ...]:
    """All of them, each once, in a fixed order."""
    made = [wrap.replace("P", payload) for wrap in _WRAPS for payload in _PAYLOADS]
    return tuple(dict.fromkeys([*HOSTILE, *made]))


def packs() -> tuple[tuple[str, ...], ...]:
    """The texts, some for each model."""
    found = texts()
    count = -(-len(found) // PACK)
    return tuple(found[i::count] for i in range(count))


def pack_model(pack: Sequence[str], number: int) -> Model:
    """A process that goes through a segment for each text: it names and describes a task, a
    decision by label, one by a condition in code, a message that is waited for, and branches."""
    first = pack[0]
    message = (EventDefinition(kind="message", name=first),)
    timer = (EventDefinition(kind="timer", timer="duration", expression=Expression(text="PT5S")),)
    nodes: list[Any] = [
        Event(id="s", name=first, position="start", doc=first, definitions=message),
        Event(id="c", name=pack[1], position="catch", doc=first, definitions=message),
        Event(id="w", name=pack[-1], position="catch", doc=first, definitions=timer),
        Event(id="x", name=pack[2], position="throw", doc=first, definitions=message),
    ]
    flows: list[Flow] = []
    last = "s"

    def wire(source: str, target: str, name: str = "", **more: Any) -> None:
        flows.append(Flow(id=f"f{len(flows)}", source=source, target=target, name=name, **more))

    for index, text in enumerate(pack):
        other = pack[(index + 1) % len(pack)]
        k = f"n{index}"
        nodes += [
            Task(id=f"{k}t", name=text, doc=text),
            Gateway(id=f"{k}g", name=text, gateway_kind="exclusive", doc=text),
            Task(id=f"{k}a", name=other),
            Task(id=f"{k}b", name=text + text),
            Gateway(id=f"{k}m", gateway_kind="exclusive"),
        ]
        wire(last, f"{k}t", text)
        wire(f"{k}t", f"{k}g", text)
        wire(f"{k}g", f"{k}a", text)
        wire(f"{k}g", f"{k}b", other if other != text else text + "2")
        wire(f"{k}a", f"{k}m")
        wire(f"{k}b", f"{k}m")
        last = f"{k}m"
    nodes.append(Event(id="e", name=first, position="end", doc=first))
    for source, target in ((last, "c"), ("c", "w"), ("w", "x"), ("x", "e")):
        wire(source, target, first)
    lanes = tuple(
        Lane(id=f"l{i}", name=text, members=(f"n{i}t", f"n{i}g"), doc=text)
        for i, text in enumerate(pack)
    )
    process = Process(id="P", name=first, nodes=tuple(nodes), flows=tuple(flows), lanes=lanes,
                      doc=first)  # fmt: skip
    pool = Pool(id="pool", name=pack[-1], process="P")
    return Model(id=f"M{number}", name=first, processes=(process,), pools=(pool,), source=first)


def stops(workflow: Json) -> dict[str, str]:
    """What each Stop and Error node says, by name."""
    return {
        row["name"]: row["parameters"]["errorMessage"]
        for row in workflow["nodes"]
        if short_type(row) == "stopAndError"
    }


def expressions(value: Any) -> Iterator[str]:
    """Every text in parameters that n8n would evaluate."""
    if isinstance(value, str):
        if value.startswith("="):
            yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from expressions(one)
    elif isinstance(value, list):
        for one in value:
            yield from expressions(one)
