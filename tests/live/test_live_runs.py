"""What is compiled runs on a real server as the model says: the examples, and hostile labels."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hostile_labels import HOSTILE, hostile_model
from n8n_compiled import emitted
from orgflow.backends.n8n.format.document import is_trigger, short_type
from orgflow.backends.n8n.server.client.client import Client, RefusedError
from orgflow.compilation.reading import load_model
from orgflow.compiler import compile_model
from orgflow.evaluation.replay import replay_model
from played_models import ONE_EXECUTION
from server_runner import ServerRunner

from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

ROOT = Path(__file__).resolve().parents[2]
ROWS_ALONE = {"parallel-approval"}
"""Examples that one execution does not have: `test_live_segments` is about rows."""
EXAMPLES = sorted(
    path for path in (ROOT / "examples").glob("*/model.*") if path.parent.name not in ROWS_ALONE
)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.name)
def test_an_example_is_deployed_as_it_is(client: Client, path: Path, registry: Registry) -> None:
    """Not a node is changed here: n8n takes it, publishes it, and hands it back as it was.

    A workflow that only a person starts is not published (N8N.md).
    """
    ctx = PassContext(registry=registry)
    model = load_model(str(path), registry, ctx, diagram=True)
    assert model is not None
    made = compile_model(model, registry.backends["n8n"], ctx, options=dict(ONE_EXECUTION))
    for artifact in made.artifacts if made is not None else ():
        workflow = json.loads(artifact.text)
        by_hand = all(
            short_type(row) == "manualTrigger" for row in workflow["nodes"] if is_trigger(row)
        )
        created = client.create(workflow)
        try:
            if not by_hand:
                client.publish(created)
            kept = client.workflow(created)
            assert kept["active"] is not by_hand
            assert [row["name"] for row in kept["nodes"]] == [
                row["name"] for row in workflow["nodes"]
            ]
            assert kept["connections"] == workflow["connections"]
        finally:
            client.delete(created)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.name)
def test_an_example_runs_as_the_model_says(client: Client, path: Path, registry: Registry) -> None:
    ctx = PassContext(registry=registry)
    model = load_model(str(path), registry, ctx, diagram=True)
    assert model is not None
    made = compile_model(model, registry.backends["n8n"], ctx, options=dict(ONE_EXECUTION))
    assert made is not None
    report = replay_model(model, made, ServerRunner(client), ctx, max_runs=6)
    assert report.ok, [run.divergence for run in report.runs]
    assert len(report.runs) >= 2


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: ascii(text)[:30])
def test_a_hostile_label_stays_a_label(client: Client, text: str) -> None:
    """On the evaluator of the server, which is another one than in process."""
    model = hostile_model(text, HOSTILE[(HOSTILE.index(text) + 1) % len(HOSTILE)])
    report = replay_model(model, emitted(model), ServerRunner(client), PassContext(), max_runs=3)
    assert report.ok, [run.divergence for run in report.runs]
    assert len(report.runs) >= 2


def test_a_wrong_key_is_named_but_not_shown(client: Client) -> None:
    with Client(client.url, "n8n_api_secret") as other:
        with pytest.raises(RefusedError, match="rejected the API key") as caught:
            other.workflow("x")
        assert "secret" not in str(caught.value) + repr(other)
