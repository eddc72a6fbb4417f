"""How often each command compiles a process: `python benchmarks/emissions.py`.

Prints a line a command; exit code 1 where one compiles a process more than once or fails. A
stand-in takes the place of the n8n server; n8n's local engine has to be installed.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))

from emission_count import COMMANDS, counted, exit_code, prepare
from n8n_stand_in import KEY, StandIn
from orgflow import cli


def main() -> int:
    """Run every command, print the table."""
    os.environ["N8N_API_KEY"] = KEY
    server = StandIn()
    wide = max(len(name) for name in COMMANDS)
    good = True
    print(f"{'':{wide}}  emissions of each process")
    try:
        for name, args in COMMANDS.items():
            with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
                prepare(Path(folder), run)
                with counted() as emissions:
                    code = run(*(word.format(url=server.url) for word in args))
            most = max(emissions.values(), default=0)
            fine = code == exit_code(name) and set(emissions.values()) == {1}
            ended = "" if code == exit_code(name) else f"  ended with {code}"
            print(f"{name:{wide}}  {most:>9}{ended}{'' if fine else '  over'}")
            good = good and fine
    finally:
        server.close()
    return int(not good)


def run(*args: str | Path) -> int:
    """Run a command line without showing what it prints."""
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        return cli.run([str(arg) for arg in args])


if __name__ == "__main__":
    raise SystemExit(main())
