"""Runs under any Python, also one compiled to WebAssembly: imports the package and compiles.

Prints a JSON object: `python`, `modules` (imported), `failed` (module to error), `code`, `workflow`
and `findings` of a compile, and with pydantic the `text` of the model read back from JSON.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import json
import os
import pathlib
import sys
import tempfile


def modules(root: pathlib.Path) -> list[str]:
    """Every module of the rooms that hold no servers and no processes."""
    found = []
    for room, package in (
        ("orgflow_ir", "orgflow_ir"),
        ("frontends", "orgflow.frontends"),
        ("backends", "orgflow.backends"),
        ("passes", "orgflow.passes"),
        ("compilation", "orgflow.compilation"),
        ("commands", "orgflow.commands"),
        ("evaluation", "orgflow.evaluation"),
    ):
        for path in sorted((root / room).rglob("*.py")):
            parts = path.relative_to(root / room).with_suffix("").parts
            if "templates" not in parts:
                found.append(".".join((package, *(p for p in parts if p != "__init__"))))
    return [*found, "orgflow.compiler", "orgflow.cli"]


def run(*arguments: str) -> tuple[object, str, str]:
    """The command line: exit code, what it printed, and what it reported."""
    from orgflow.cli import main

    out, err, code = io.StringIO(), io.StringIO(), None
    sys.argv = ["orgflowc", *arguments]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as ended:
            code = ended.code
    return code, out.getvalue(), err.getvalue()


def check(root: pathlib.Path, model: str) -> dict[str, object]:
    """What this Python makes of a checkout."""
    os.chdir(root)
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "workflow.json")
        code, _, findings = run("compile", model, "--target", "n8n", "-o", str(out))
        os.chmod(out, 0o600)  # files have no permissions in an older emscripten
        result: dict[str, object] = {
            "python": list(sys.version_info[:2]),
            "code": code,
            "workflow": out.read_text(encoding="utf-8"),
            "findings": findings.replace(str(out), "workflow.json"),
            "check": run("check", model)[0],
        }
    imported, failed = [], {}
    for name in modules(root):
        try:
            importlib.import_module(name)
            imported.append(name)
        except Exception as error:  # noqa: BLE001  # reported, and judged by the test
            failed[name] = f"{type(error).__name__}: {error}"
    result |= {"modules": imported, "failed": failed}
    if importlib.util.find_spec("pydantic") and importlib.util.find_spec("pydantic_core"):
        from orgflow.compilation.reading import load_model

        from orgflow_ir.model import Model
        from orgflow_ir.pipeline import PassContext
        from orgflow_ir.plugins import Registry

        loaded = load_model(model, Registry(), PassContext())
        assert loaded is not None
        again = Model.from_json(loaded.to_json())
        assert again == loaded
        assert Model.validate(loaded) == loaded
        result["text"] = again.to_json()
    return result


def main() -> None:
    """Arguments: the checkout, and a model in it."""
    print(json.dumps(check(pathlib.Path(sys.argv[1]), sys.argv[2])))


if __name__ == "__main__":
    main()
