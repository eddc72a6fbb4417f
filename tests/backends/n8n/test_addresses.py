"""Who may call a workflow: authentication of webhooks, pages and waits, and what is reported."""

from __future__ import annotations

from typing import Any

import pytest
from event_models import event, line
from n8n_compiled import emitted
from orgflow.backends.n8n.emit.compiled import CompiledProcess
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.replay.local_runner import LocalRunner
from orgflow.backends.n8n.server.deploy.credentials import needed_credential
from orgflow.evaluation.replay import replay_model

from orgflow_ir.model import Model, Task
from orgflow_ir.pipeline import PassContext

ASK = Task(id="ask", name="Ask", task_type="user")
GET = Task(id="get", name="Get", task_type="receive")


def compiled(model: Model, **options: str) -> tuple[dict[str, dict[str, Any]], PassContext]:
    """The nodes by name."""
    ctx = PassContext(options=options)
    (process,) = emitted(model, ctx).compiled.values()
    assert isinstance(process, CompiledProcess)
    return {node["name"]: dict(node) for node in process.root.workflow["nodes"]}, ctx


def model(start: str | None) -> Model:
    return line(event("s", "start", start), ASK, GET, event("e", "end"))


def found(ctx: PassContext, code: str) -> list[str]:
    return [d.message for d in ctx.diagnostics if d.code == code]


@pytest.mark.parametrize("version", ["2.41", "1.123"])
@pytest.mark.parametrize(
    ("start", "options", "kinds"),
    [
        ("message", {"auth": "header"}, ("headerAuth", "basicAuth", "headerAuth")),
        (None, {"auth": "header", "trigger": "manual"}, (None, "basicAuth", "headerAuth")),
        (None, {"auth": "header"}, ("basicAuth", "basicAuth", "headerAuth")),
        ("message", {}, (None, None, None)),
    ],
)
def test_how_callers_identify_themselves(
    start: str | None, options: dict[str, str], kinds: tuple[str | None, ...], version: str
) -> None:
    nodes, ctx = compiled(model(start), version=version, **options)
    rows = [nodes[name] for name in ("s", "Ask", "Get")]
    names = ("authentication", "incomingAuthentication", "incomingAuthentication")
    pairs = zip(rows, names, strict=True)
    assert tuple(row["parameters"].get(name) for row, name in pairs) == kinds
    credentials = {"headerAuth": "httpHeaderAuth", "basicAuth": "httpBasicAuth", None: ""}
    assert tuple(map(needed_credential, rows)) == tuple(credentials[kind] for kind in kinds)
    assert len(found(ctx, "OF424")) == (kinds != (None, None, None))


def test_open_addresses_are_reported_once_a_workflow() -> None:
    _, ctx = compiled(model("message"))
    assert found(ctx, "OF425") == ["anyone who knows the address of `s` can start runs of `P`"]
    for start, options in (
        ("message", {"auth": "header"}),
        (None, {"trigger": "manual"}),
        ("timer", {}),
    ):
        _, ctx = compiled(model(start), **options)
        assert not found(ctx, "OF425")


def test_open_waits_are_reported_where_their_addresses_are_not_signed() -> None:
    waits = "anyone can answer `Ask` and `Get` of `P`: n8n 1 does not sign the addresses of "
    _, ctx = compiled(model("timer"), version="1.123")
    assert found(ctx, "OF425") == [f"{waits}waiting runs, and numbers the runs"]
    _, ctx = compiled(model("message"), version="1.123")
    assert len(found(ctx, "OF425")) == 2
    _, ctx = compiled(model("message"), version="1.123", auth="header")
    assert not found(ctx, "OF425")


def test_replays_answer_what_asks_for_a_secret(engine: LocalEngine) -> None:
    made = emitted(model("message"), PassContext(options={"auth": "header"}))
    report = replay_model(model("message"), made, LocalRunner(engine), PassContext())
    assert report.ok, [r.divergence for r in report.runs]
