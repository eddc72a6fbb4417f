"""Shell completion: what Tab offers, asked as bash asks, and the script in a real bash."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cli_cases import Ran, orgflowc


def offered(*words: str) -> list[str]:
    """What the shell offers for the last of the words."""
    env = {
        **os.environ,
        "COMP_WORDS": " ".join(("orgflowc", *words)),
        "COMP_CWORD": str(len(words)),
        "_ORGFLOWC_COMPLETE": "bash_complete",
    }
    ran: Ran = orgflowc(env=env)
    assert ran.err == ""
    return [line.partition(",")[2] for line in ran.out.splitlines()]


@pytest.mark.parametrize(
    ("words", "some", "not_"),
    [
        (("comp",), {"compile", "completion"}, {"check"}),
        (("compile", "x.bpmn", "--target", "n"), {"n8n"}, {"bpmn"}),
        (("compile", "x.bpmn", "--ta"), {"--target"}, {"--from"}),
        (("explain", "OF20"), {"OF201", "OF206"}, {"OF101"}),
        (("explain", "deadl"), {"deadlocked-join"}, {"OF201"}),
        (("check", "--format", "s"), {"sarif"}, {"json"}),
        (("check", "--from", ""), {"bpmn", "pme", "ir", "n8n"}, set()),
        (("list", "ru"), {"rules"}, {"backends"}),
        (("opt", "--passes", "merge-deadlock,link"), {"merge-deadlock,link-events"}, set()),
        (("completion", "z"), {"zsh"}, {"bash"}),
        (("compile", "x.bpmn", "--target", "svg{th"), {"svg{theme=dark"}, {"svg{findings=no"}),
        (
            ("compile", "x.bpmn", "--target", "svg{theme=dark,"),
            {"svg{theme=dark,findings=yes"},
            {"svg{theme=dark,theme=light"},
        ),
        (("compile", "x.bpmn", "--target", "none{"), set(), {"none{theme=dark"}),
        (("run", "x.bpmn", "--target", "n"), {"n8n"}, {"bpmn"}),
        (("watch", "x.bpmn", "--from", "b"), {"bpmn"}, {"ir"}),
        (("new", "b"), {"backend"}, {"pass"}),
        (("eval", ""), {"pmo"}, set()),
    ],
)
def test_names_are_offered(words: tuple[str, ...], some: set[str], not_: set[str]) -> None:
    found = set(offered(*words))
    assert some <= found
    assert not not_ & found


@pytest.mark.parametrize("command", ["compile", "check", "verify", "diff", "trace", "opt", "run"])
def test_models_are_completed_as_files(command: str) -> None:
    env = {
        **os.environ,
        "COMP_WORDS": f"orgflowc {command} mod",
        "COMP_CWORD": "2",
        "_ORGFLOWC_COMPLETE": "bash_complete",
    }
    assert orgflowc(env=env).out == "file,mod\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_for_each_shell(shell: str) -> None:
    ran = orgflowc("completion", shell)
    assert ran.code == 0
    assert f"_ORGFLOWC_COMPLETE={shell}_complete" in ran.out
    assert ran.out.startswith("# put ")


def test_the_script_works_in_bash(tmp_path: Path) -> None:
    bash = shutil.which("bash")
    assert bash is not None
    script = tmp_path / "complete.sh"
    script.write_text(orgflowc("completion", "bash").out)
    program = tmp_path / "orgflowc"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m orgflow.cli "$@"\n')
    program.chmod(0o755)
    asked = (
        f"source {script}; COMP_WORDS=(orgflowc expl); COMP_CWORD=1; "
        '_orgflowc_completion orgflowc; echo "${COMPREPLY[@]}"'
    )
    env = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    ran = subprocess.run(
        [bash, "-c", asked], env=env, capture_output=True, text=True, check=True, timeout=120
    )
    assert ran.stdout.split() == ["explain"]


def test_an_unknown_shell() -> None:
    ran = orgflowc("completion", "fihs")
    assert ran.code == 2
    assert ran.err == "orgflowc completion: no shell `fihs`; did you mean `fish`?\n"
