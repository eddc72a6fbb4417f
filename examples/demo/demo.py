"""What `make demo` shows: a deadlock found, fixed, compiled to n8n, and every path run."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

MODEL = Path(__file__).resolve().parent / "order.bpmn"


def main(folder: str = "build/demo") -> int:
    """Work on a copy of the model in `folder`; the exit code."""
    begun = time.monotonic()
    place = Path(folder)
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    model, picture = place / "order.bpmn", place / "deadlock.svg"
    shutil.copyfile(MODEL, model)

    step("1. A model with a fault: check reports it, with the run that goes wrong")
    orgflowc("check", model, fails=True)
    orgflowc(
        "compile", model, "--force", "--target", "svg{findings=yes}", "-o", picture, shown=False
    )
    step("2. The fix, applied to the file")
    orgflowc("check", model, "--fix")
    step("3. Compile it to an n8n workflow, and prove that it does what the model says")
    workflow, left = place / "order.json", place / "to-do.html"
    orgflowc("compile", model, "--target", "n8n", "-o", workflow, "--report", left)
    orgflowc("verify", model, workflow)
    step("4. Run every path of it")
    orgflowc("run", model, "--all-paths", "--html", place / "runs.html")

    step(f"Done in {time.monotonic() - begun:.0f} s. Open in a browser")
    print(f"""\
  {picture}     the model as it was, the deadlock marked
  {place / "runs.html"}        each run drawn into the model
  {left}       what is left to do before people use the workflow
and in n8n (Import from File)
  {workflow}

Next, with your own model (BPMN, Mermaid, or a text: `orgflowc model`)
  . .venv/bin/activate
  orgflowc check MODEL.bpmn
  orgflowc compile MODEL.bpmn --target n8n -o MODEL.json
  orgflowc watch MODEL.bpmn     # the model with its findings on a page, at every save
  orgflowc serve MODEL.bpmn     # in an n8n on this machine, installed once (2.9 GB)""")
    return 0


def step(title: str) -> None:
    """Print a heading."""
    print(f"\n{title}")


def orgflowc(*arguments: str | Path, fails: bool = False, shown: bool = True) -> None:
    """Run a command and print it with its output, but for notes on open work and on answers that
    runs get: the pages have them.

    Raises `SystemExit` where it does not end as expected.
    """
    words = [str(argument) for argument in arguments]
    ran = subprocess.run(
        [sys.executable, "-m", "orgflow.cli", *words],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8", check=False,
    )  # fmt: skip
    without = re.sub(r"^differs from the delivered .*\n(?:  .*\n)*", "", ran.stdout, flags=re.M)
    kept = [one for one in without.strip("\n").split("\n\n") if ": info OF" not in one]
    if shown or ran.returncode != fails:
        print(f"$ orgflowc {' '.join(words)}", "\n\n".join(kept), sep="\n", flush=True)
    if ran.returncode != fails:
        raise SystemExit(f"orgflowc {words[0]} ended with exit code {ran.returncode}")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
