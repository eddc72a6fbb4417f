"""Commands of ours that are ended in the middle: by Ctrl-C, a signal, or `kill -9`.

The scenarios run before a stand-in and before real n8n.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cli_cases import interruptible, orgflowc
from deploy_faults import CREATE, PUBLISH, UPDATE, Site, assert_whole, chain, hook
from faulty_proxy import Fault

Json = dict[str, Any]

SECONDS = 120.0


class Moment(NamedTuple):
    """When it is ended.

    Attributes:
        name: for the test.
        call: the call of the API at which it gets the signal; the server still carries it out.
        skip: how many such calls go before.
        before: what was deployed already.
        files: what each file holds.
        names: the workflows that are there in the end.
    """

    name: str
    call: str
    skip: int
    before: tuple[Json, ...]
    files: tuple[Json, ...]
    names: tuple[str, ...]


CALLER, CALLEE = chain()
CHANGED = hook(path="order2")

MOMENTS = (
    Moment("creating", CREATE, 0, (), (hook(),), ("Order",)),
    Moment("created-not-published", PUBLISH, 0, (), (hook(),), ("Order",)),
    Moment("between-two-created", CREATE, 1, (), (CALLER, CALLEE), ("Callee", "Caller")),
    Moment("between-two-published", PUBLISH, 1, (), (CALLER, CALLEE), ("Callee", "Caller")),
    Moment("updating", UPDATE, 0, (hook(),), (CHANGED,), ("Order",)),
    Moment("one-new-one-updated", PUBLISH, 0, (hook(),), (CHANGED, hook("B", "b")), ("B", "Order")),
)


SLOW_STARTS = """
import sys, threading, time

start = threading.Thread.start


def slowly(thread):
    start(thread)
    time.sleep(0.5)


threading.Thread.start = slowly
from orgflow import cli

cli.main()
"""
"""The command line where a thread that is started runs long before its starter goes on, as happens
on a busy machine."""


def started(site: Site, *args: str, slow_starts: bool = False) -> subprocess.Popen[bytes]:
    """A command of ours that talks to the server through the proxy."""
    program = ["-c", SLOW_STARTS] if slow_starts else ["-m", "orgflow.cli"]
    return subprocess.Popen(
        [sys.executable, *program, *args],
        env={**os.environ, "N8N_API_KEY": site.key, "N8N_URL": site.proxy.url},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=interruptible,
    )


def deployed(site: Site, files: Sequence[Path]) -> list[str]:
    """Deploy by the command; what was done."""
    done = orgflowc(
        "deploy", *files, env={"N8N_API_KEY": site.key, "N8N_URL": site.proxy.url}, timeout=SECONDS
    )
    assert done.code == 0, done.err
    return [line.split()[0] for line in done.out.splitlines()]


def written(folder: Path, flows: Sequence[Json]) -> list[Path]:
    files = [folder / f"{number}.json" for number in range(len(flows))]
    for file, flow in zip(files, flows, strict=True):
        file.write_text(json.dumps(flow), encoding="utf-8")
    return files


def contents(site: Site) -> list[Any]:
    return [(row["name"], row["active"], row["nodes"]) for row in site.rows()]


def ended_in_the_middle(site: Site, moment: Moment, number: int, folder: Path) -> None:
    """After Ctrl-C or SIGTERM all is as before; whatever it was, the next deploy completes it."""
    if moment.before:
        deployed(site, written(folder, moment.before))
    before = contents(site)
    files = written(folder, moment.files)
    children: list[subprocess.Popen[bytes]] = []

    def end() -> None:
        children[0].send_signal(number)
        if number == signal.SIGKILL:
            children[0].wait()
        else:
            time.sleep(0.3)  # so that it has noticed when the answer comes

    site.proxy.faults = [Fault(moment.call, skip=moment.skip, deed=end)]
    site.proxy.hit = 0
    children.append(started(site, "deploy", *map(str, files)))
    out, err = children[0].communicate(timeout=SECONDS)
    assert site.proxy.hit == 1, err.decode()
    site.proxy.faults = []
    assert children[0].returncode == {signal.SIGINT: 130}.get(signal.Signals(number), -number)
    assert site.key.encode() not in out + err
    assert b"Traceback" not in err
    _settled(site)
    if number != signal.SIGKILL:
        assert_reported_or_undone(site, before, out, err)
    deployed(site, files)
    assert_whole(site, *moment.names)
    if moment.before:
        assert "order2" in json.dumps(contents(site))
    assert set(deployed(site, files)) == {"unchanged"}


def assert_reported_or_undone(site: Site, before: list[Any], out: bytes, err: bytes) -> None:
    """Completed work is reported and whole, the rest is undone."""
    reported = {line.split()[1].decode() for line in out.splitlines()}
    assert reported or contents(site) == before, (out, err)
    for row in site.rows():
        assert row["active"] or row["name"] == "Callee", (row["name"], out, err)
        old = (row["name"], row["active"], row["nodes"]) in before
        assert row["id"] in reported or old, (row["name"], out, err)


def interrupted_at(site: Site, fault: Fault, number: int, folder: Path, *, slow: bool) -> None:
    """Ended at once at a moment of a call; the completed work is reported, or all is as before."""
    files = written(folder, (hook(),))
    children: list[subprocess.Popen[bytes]] = []
    fault.deed = lambda: children[0].send_signal(number)
    site.proxy.faults = [fault]
    children.append(started(site, "deploy", *map(str, files), slow_starts=slow))
    out, err = children[0].communicate(timeout=SECONDS)
    assert site.proxy.hit == 1, err.decode()
    site.proxy.faults = []
    assert children[0].returncode == {signal.SIGINT: 130}.get(signal.Signals(number), -number)
    assert b"Traceback" not in err
    _settled(site)
    assert_reported_or_undone(site, [], out, err)
    deployed(site, files)
    assert_whole(site, "Order")


def _settled(site: Site) -> None:
    """What is there once the server has carried out the calls that it had."""
    seen = contents(site)
    while True:
        time.sleep(0.2)
        now = contents(site)
        if now == seen:
            return
        seen = now


def killed_run(site: Site, model: Path) -> None:
    """A `run` that is killed while its copy is published."""
    site.proxy.faults = [Fault("POST /webhook/", slow=3.0, times=-1)]
    child = started(site, "run", str(model), "--engine", site.proxy.url)
    deadline = time.monotonic() + SECONDS
    while not site.proxy.hit:
        assert time.monotonic() < deadline
        assert child.poll() is None
        time.sleep(0.02)
    child.kill()
    child.communicate()
    site.proxy.faults = []


def run_killed_and_tidied_up(site: Site, model: Path, command: str) -> None:
    """What a killed run left, the next `run` or `deploy` takes away and tells, once."""
    killed_run(site, model)
    (row,) = site.rows()
    assert row["active"]
    assert row["name"].startswith("orgflow run: ")
    where = {"run": "--engine", "deploy": "--url"}[command]

    def again(*more: str) -> str:
        child = started(site, command, str(model), where, site.proxy.url, *more)
        _, err = child.communicate(timeout=SECONDS)
        assert child.returncode == 0, err.decode()
        return " ".join(err.decode().split())

    if command == "deploy":
        assert "OF623" in again("--dry-run")
        assert [one["id"] for one in site.rows()] == [row["id"]]
    said = again()
    assert "warning OF623" in said
    assert "that was killed; it was removed" in said
    assert row["id"] not in [one["id"] for one in site.rows()]
    assert "OF623" not in again()
