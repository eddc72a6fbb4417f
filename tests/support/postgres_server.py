"""A PostgreSQL server with pgvector for the tests, from the wheel `pgserver`: in a folder of its
own, reached by a socket in it, ended by its process id."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def running(password: str = "") -> Iterator[str]:
    """The URL of a running server without a database: `postgresql://…/NAME?host=…` is one.

    `password`: of the user `postgres`; without one nobody needs a password.

    PostgreSQL does not run as root; there it runs as `nobody`, from a copy that `nobody` can read.
    """
    found = importlib.util.find_spec("pgserver")
    assert found is not None
    assert found.origin is not None
    package = Path(found.origin).parent
    folder = Path(tempfile.mkdtemp(prefix="orgflow-pg-"))  # short: a socket's path has 107 bytes
    user = "nobody" if os.geteuid() == 0 else None
    installed = package / "pginstall"
    try:
        if user is not None:
            account = pwd.getpwnam(user)
            installed = folder / "pgserver" / "pginstall"
            shutil.copytree(package / "pginstall", installed)
            libraries = package.parent / "pgserver.libs"
            if libraries.is_dir():
                shutil.copytree(libraries, folder / "pgserver.libs")
            os.chown(folder, account.pw_uid, account.pw_gid)
        data = folder / "data"
        secret = folder / "password"
        secret.write_text(password or "none")
        secret.chmod(0o644)
        _run(
            [installed / "bin" / "initdb", "-D", data, "--encoding=utf8", "--locale=C.UTF-8",
             f"--auth={'scram-sha-256' if password else 'trust'}", "--no-sync", "-U", "postgres",
             f"--pwfile={secret}"], user,
        )  # fmt: skip
        server = subprocess.Popen(
            [installed / "bin" / "postgres", "-D", data, "-k", folder, "-h", "", "-F",
             "-c", "shared_buffers=32MB"],
            user=user, stdout=subprocess.DEVNULL, stderr=(folder / "log").open("wb"),
        )  # fmt: skip
        try:
            _wait(folder, server)
            yield f"postgresql://postgres@/{{}}?host={folder}"
        finally:
            server.terminate()  # this process alone; it ends its own children
            server.wait(120)
    finally:
        shutil.rmtree(folder)


def _run(command: list[str | Path], user: str | None) -> None:
    done = subprocess.run(command, user=user, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()


def _wait(folder: Path, server: subprocess.Popen[bytes]) -> None:
    pid_file = folder / "data" / "postmaster.pid"
    for _ in range(600):
        assert server.poll() is None, (folder / "log").read_text()
        if pid_file.exists() and pid_file.read_text().rstrip().endswith("ready"):
            return
        time.sleep(0.1)
    raise AssertionError((folder / "log").read_text())
