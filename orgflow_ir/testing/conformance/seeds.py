"""Whether a backend's output depends on the order of sets: it is asked again in other processes,
with other seeds for the hashes of text.

`python -m orgflow_ir.testing.conformance.seeds MODULE CLASS` prints a digest for each construct.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec

from orgflow_ir.plugins.contracts import Backend
from orgflow_ir.testing.conformance.emission import emit
from orgflow_ir.testing.conformance.shapes import shapes
from orgflow_ir.testing.minimal import minimal_models

SEEDS = ("1", "4711")
TIMEOUT = 120
"""Seconds granted to one process."""


def seed_problems(backend: Backend) -> list[str]:
    """Constructs whose output is another under another seed; nothing where the class cannot be
    imported by its name (it is made in a function, or the module is a test)."""
    cls = type(backend)
    try:
        known = find_spec(cls.__module__) is not None
    except (ImportError, ValueError):
        known = False
    if not known or "." in cls.__qualname__ or cls.__module__ == "__main__":
        return []
    digests = [_digests_under(cls, seed) for seed in SEEDS]
    if None in digests:
        return []
    first, second = digests
    assert first is not None
    assert second is not None
    return [
        f"{name}: other bytes under another PYTHONHASHSEED: the order of a set shows"
        for name, digest in first.items()
        if second.get(name) != digest
    ]


def _digests_under(cls: type[Backend], seed: str) -> dict[str, str] | None:
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "orgflow_ir.testing.conformance.seeds",
            cls.__module__,
            cls.__qualname__,
        ],
        env={
            **os.environ,
            "PYTHONHASHSEED": seed,
            "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
        },
        capture_output=True,
        check=False,
        timeout=TIMEOUT,
    )
    found = json.loads(done.stdout) if done.returncode == 0 else None
    return found if isinstance(found, dict) else None


def digests(backend: Backend) -> dict[str, str]:
    """A digest of what is emitted and said for each small model."""
    found = {}
    for name, model in (*minimal_models(), *shapes()):
        artifacts, said = emit(backend, model)
        text = repr((artifacts, [(d.code, d.message, d.help) for d in said]))
        found[name] = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return found


def main(module: str, name: str) -> None:
    """Print the digests of a backend, by the module and the name of its class."""
    cls = getattr(import_module(module), name)
    json.dump(digests(cls()), sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
