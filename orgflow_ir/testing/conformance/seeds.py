"""Whether a backend's output depends on the order of sets or on the machine: it emits again in
other processes with different hash seeds, time zones, languages and folders.

`python -m orgflow_ir.testing.conformance.seeds MODULE CLASS` prints a digest for each construct.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec

from orgflow_ir.plugins.contracts import Backend
from orgflow_ir.testing.conformance.emission import emit
from orgflow_ir.testing.conformance.minimal_models import minimal_models
from orgflow_ir.testing.conformance.shapes import list_shapes

SURROUNDINGS = (
    {"PYTHONHASHSEED": "1", "TZ": "UTC0", "LANG": "en_GB.UTF-8", "USER": "one"},
    {"PYTHONHASHSEED": "4711", "TZ": "NZST-12", "LANG": "tr_TR.UTF-8", "USER": "other"},
)
"""Environment variables of the processes that are compared."""
TIMEOUT = 120
"""Time limit of one process in seconds."""


def seed_problems(backend: Backend) -> list[str]:
    """Constructs whose output differs in another process; empty if the class cannot be imported by
    its name (it is defined in a function, or the module is a test)."""
    cls = type(backend)
    try:
        known = find_spec(cls.__module__) is not None
    except (ImportError, ValueError):
        known = False
    if not known or "." in cls.__qualname__ or cls.__module__ == "__main__":
        return []
    folders = (os.getcwd(), tempfile.gettempdir())
    digests = [_digests_under(cls, *both) for both in zip(SURROUNDINGS, folders, strict=True)]
    if None in digests:
        return []
    first, second = digests
    assert first is not None
    assert second is not None
    return [
        f"{name}: the bytes differ in another process with another PYTHONHASHSEED, time zone, "
        "language and folder; does the output depend on the order of a set?"
        for name, digest in first.items()
        if second.get(name) != digest
    ]


def _digests_under(
    cls: type[Backend], surroundings: Mapping[str, str], folder: str
) -> dict[str, str] | None:
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
            **surroundings,
            "PYTHONPATH": os.pathsep.join(os.path.abspath(p) for p in sys.path if p),
        },
        cwd=folder,
        capture_output=True,
        check=False,
        timeout=TIMEOUT,
    )
    digests_read = json.loads(done.stdout) if done.returncode == 0 else None
    return digests_read if isinstance(digests_read, dict) else None


def compute_digests(backend: Backend) -> dict[str, str]:
    """A digest of the output and diagnostics for each small model."""
    digests_by_name = {}
    for name, model in (*minimal_models(), *list_shapes()):
        artifacts, diagnostics = emit(backend, model)
        text = repr((artifacts, [(d.code, d.message, d.help) for d in diagnostics]))
        digests_by_name[name] = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return digests_by_name


def print_digests(module: str, name: str) -> None:
    """Print the digests of a backend, given the module and the name of its class."""
    cls = getattr(import_module(module), name)
    json.dump(compute_digests(cls()), sys.stdout)


if __name__ == "__main__":
    print_digests(*sys.argv[1:])
