"""What `make audit` does: asks pip-audit and npm about known vulnerabilities. Where a tool is
missing or its server cannot be reached, that is printed in capitals and is no failure.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from orgflow.backends.n8n.engine.engine_folder import PACKAGES
from orgflow.backends.n8n.engine.install import OVERRIDES

PATIENCE = 300
UNREACHABLE = ("connectionerror", "connecttimeout", "name or service not known", "enotfound",
               "econnrefused", "eai_again", "etimedout", "network", "max retries",
               "audit endpoint returned an error", "temporary failure", "proxyerror",
               "httperror", "failed to upgrade `pip`", "no matching distribution")  # fmt: skip
"""Parts of what the tools print where there is no way to their servers."""


def outcome(tool: str, code: int, printed: str) -> tuple[bool, str]:
    """Whether a tool found vulnerabilities, and the line about it."""
    if code == 0:
        unknown = printed.count("could not be audited")
        if unknown:  # as with a mirror that has no advisories
            return False, f"{tool}: SKIPPED {unknown} PACKAGES THAT ITS SERVER DOES NOT KNOW"
        return False, f"{tool}: no known vulnerabilities"
    reason = next((part for part in UNREACHABLE if part in printed.lower()), None)
    if reason is not None:
        return False, f"{tool}: SKIPPED, ITS SERVER CANNOT BE REACHED ({reason})"
    return True, f"{tool}: FOUND\n{printed.strip()}"


def run(command: list[str], folder: Path | None = None) -> tuple[int, str]:
    """Exit code and both streams; a time-out counts as a server that cannot be reached."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False,
                              timeout=PATIENCE)  # fmt: skip
    except subprocess.TimeoutExpired:
        return 1, "etimedout"
    return done.returncode, done.stdout + done.stderr


def python_packages() -> tuple[bool, str]:
    """pip-audit of this environment."""
    if importlib.util.find_spec("pip_audit") is None:
        return False, "pip-audit: SKIPPED, IT IS NOT INSTALLED (pip install pip-audit)"
    command = [sys.executable, "-m", "pip_audit", "--progress-spinner", "off", "--skip-editable"]
    return outcome("pip-audit", *run(command))


def engine_packages() -> tuple[bool, str]:
    """npm audit of what `orgflowc engine install` installs; critical ones count."""
    if shutil.which("npm") is None:
        return False, "npm audit: SKIPPED, NPM IS NOT INSTALLED"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        package = {"name": "audit", "private": True, "dependencies": dict(PACKAGES),
                   "overrides": dict(OVERRIDES)}  # fmt: skip
        (folder / "package.json").write_text(json.dumps(package), encoding="utf-8")
        lock = ["npm", "install", "--package-lock-only", "--ignore-scripts", "--no-audit"]
        code, printed = run(lock, folder)
        if code != 0:
            last = (printed.strip().splitlines() or ["no message"])[-1]
            return False, f"npm audit: SKIPPED, THE PACKAGES CANNOT BE RESOLVED ({last})"
        return outcome("npm audit", *run(["npm", "audit", "--audit-level=critical"], folder))


def main() -> int:
    """1 where something was found."""
    found = [python_packages(), engine_packages()]
    print("\n".join(line for _, line in found))
    return int(any(bad for bad, _ in found))


if __name__ == "__main__":
    sys.exit(main())
