"""A third party's package with two agents, outside this tree: installed, listed, and used by
`model` and `fill`; one of them asks the language model that the user configured."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_cases import Ran
from engine_fixture import missing
from model_server import model_server
from orgflow.backends.n8n.engine.install import engine_status
from plugin_install import clean_environment

HOOKS = '''
"""Agents of the Acme company."""
from orgflow_ir.plugins import hookimpl


@hookimpl
def orgflow_agents():
    from acme_agents.agents import AcmeOutline, AcmePrices

    return (AcmeOutline(), AcmePrices())
'''

AGENTS = '''
"""An agent that drafts from numbered outlines, and one that asks a language model for prices."""
import json
import re

from orgflow_ir.diagnostics import Category, Rule, Severity
from orgflow_ir.model import Event, Evidence, Flow, Model, Process, Task
from orgflow_ir.pipeline.services import required
from orgflow_ir.plugins import Answer, GapAgent, ModelAgent


class NoOutline(Rule):
    """
    What it finds
        A document without numbered lines.
    Why it is wrong
        There are no steps in it.
    Example
        We pack and ship.
    Instead
        1. Pack
    """

    code = "ACME001"
    name = "no-outline"
    severity = Severity.ERROR
    category = Category.INPUT


class AcmeOutline(ModelAgent):
    name = "acme-outline"
    summary = "a process from a numbered outline"
    rules = (NoOutline,)

    def produce(self, documents, ctx):
        steps = []
        for document in documents:
            for line in document.text.splitlines():
                step = re.fullmatch(r"[0-9]+[.] ([A-Z][a-z ]+)", line)
                if step is not None:
                    found = (Evidence(document=document.name, quote=line),)
                    steps.append(Task(id=f"step_{len(steps) + 1}", name=step[1], evidence=found))
        if not steps:
            ctx.emit(NoOutline, "there is no numbered line", help="write `1. Pack`")
            return None
        nodes = (Event(id="start", position="start"), *steps, Event(id="end", position="end"))
        flows = tuple(
            Flow(id=f"to_{b.id}", source=a.id, target=b.id) for a, b in zip(nodes, nodes[1:])
        )
        return Model(id="outline", processes=(Process(id="process", nodes=nodes, flows=flows),))


class AcmePrices(GapAgent):
    name = "acme-prices"
    summary = "tasks that work out a price, as scripts"
    kinds = frozenset({"task"})

    def answer(self, gap, model, ctx, refused):
        if "price" not in gap.element.name.lower() or refused:
            return None
        client = required(ctx.services.model, "language model")
        schema = {"type": "object", "properties": {"percent": {"type": "number"}}}
        reply = client.ask(
            [{"role": "user", "content": f"Which discount has {gap.element.name}?"}], schema=schema
        )
        try:
            percent = float(json.loads(reply.text)["percent"])
        except (ValueError, KeyError, TypeError):
            return None
        code = f"price = amount * {1 - percent / 100:g};"
        return Answer({"kind": "script", "language": "javascript", "code": code})
'''

TESTS = """
from acme_agents.agents import AcmeOutline, AcmePrices
from orgflow_ir.model import Event, Flow, Model, Process, Task
from orgflow_ir.plugins import Document
from orgflow_ir.testing import check_agent

NODES = (
    Event(id="s", position="start"),
    Task(id="t", name="Work out the price", task_type="service"),
    Event(id="e", position="end"),
)
FLOWS = (Flow(id="a", source="s", target="t"), Flow(id="b", source="t", target="e"))
MODEL = Model(id="m", processes=(Process(id="p", nodes=NODES, flows=FLOWS),))


def test_contract():
    check_agent(AcmeOutline(), documents=[[Document("list", "1. Pack\\n2. Ship")]])
    check_agent(AcmePrices(), [("a price", MODEL)])
"""

POINTS = "[orgflow.plugins]\nacme = acme_agents\n"
METADATA = "Metadata-Version: 2.1\nName: acme-agents\nVersion: 1.0\n"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder of packages with that of the third party, as an installer leaves it."""
    folder = tmp_path / "site"
    for name, text in (
        ("acme_agents/__init__.py", HOOKS), ("acme_agents/agents.py", AGENTS),
        ("acme_agents-1.0.dist-info/METADATA", METADATA),
        ("acme_agents-1.0.dist-info/entry_points.txt", POINTS),
    ):  # fmt: skip
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text.lstrip())
    return folder


@pytest.fixture
def orgflowc(site: Path, tmp_path: Path) -> Callable[..., Ran]:
    def run(*args: str, **variables: str) -> Ran:
        paths = [str(site), *(p for p in sys.path if p)]
        done = subprocess.run(
            [sys.executable, "-m", "orgflow.cli", *args], cwd=tmp_path, text=True, check=False,
            env=clean_environment(PYTHONPATH=os.pathsep.join(paths), **variables),
            capture_output=True, timeout=300,
        )  # fmt: skip
        return Ran(done.returncode, done.stdout, done.stderr)

    return run


def test_an_outside_agent_drafts(orgflowc: Callable[..., Ran], tmp_path: Path) -> None:
    listed = orgflowc("list", "agents")
    assert "acme-outline" in listed.out
    assert "tasks that work out a price" in " ".join(listed.out.split())
    (tmp_path / "work.txt").write_text("Our work\n1. Pack goods\n2. Ship goods\n")
    ran = orgflowc("model", "work.txt", "--agent", "acme-outline", "--target", "n8n")
    assert ran.code == 0, ran.err
    assert {"Pack goods", "Ship goods"} <= {n["name"] for n in json.loads(ran.out)["nodes"]}
    (tmp_path / "work.txt").write_text("We pack and ship.")
    ran = orgflowc("model", "work.txt", "--agent", "acme-outline")
    assert ran.code == 1
    assert "ACME001" in ran.err


MODEL = """\
T1 Work out the price
T2 Tell nobody
Start -> T1 -> T2 -> End
"""


def test_an_outside_agent_fills(orgflowc: Callable[..., Ran], tmp_path: Path) -> None:
    if not engine_status().installed:
        missing("n8n's engine is not installed")
    (tmp_path / "m.triples").write_text(MODEL)

    def answer(request: dict[str, object]) -> str:
        return (
            '{"percent": 20}' if "discount" in str(request["messages"]) else '{"operation": "none"}'
        )

    with model_server(answer) as server:
        ran = orgflowc(
            "fill", "m.triples", "--agent", "acme-prices",
            ORGFLOW_MODEL_URL=server.url, ORGFLOW_MODEL="toy",
        )  # fmt: skip
    assert ran.code == 0, ran.err
    assert "price = amount * 0.8;" in ran.out
    assert "agent `acme-prices`" in " ".join(ran.err.split())
    assert "acme-prices: 1 call, 10 tokens in, 5 out" in ran.err
    assert orgflowc("fill", "m.triples", "--agent", "nobody").code == 2


def test_its_own_tests(site: Path, tmp_path: Path) -> None:
    (tmp_path / "test_acme.py").write_text(TESTS)
    paths = [str(site), *(p for p in sys.path if p)]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_acme.py"],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300,
        env=clean_environment(
            PYTHONPATH=os.pathsep.join(paths), PYTEST_DISABLE_PLUGIN_AUTOLOAD="1"
        ),
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
