"""`orgflowc new`: a package with an extension and tests that pass."""

from __future__ import annotations

import os
import re
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click
from orgflow.backends import DEFAULT_TARGET
from orgflow.commands.completion_values import complete_among
from orgflow.commands.output import OutputError, write_files, write_stdout
from orgflow.compilation.usage_errors import suggest_name

from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.plugins import Registry

if TYPE_CHECKING:
    import jinja2
else:  # when a package is written, not for a page of help
    jinja2 = LazyModule("jinja2")

TEMPLATES = Path(__file__).parent / "templates"
MAX_NAME = 40
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


class Kind(NamedTuple):
    """The content of one kind of package: paths with their templates, and the table that contains
    its name."""

    table: str
    files: tuple[tuple[str, str], ...]
    try_it: str


_SHARED = (
    ("pyproject.toml", "pyproject.toml.j2"),
    ("README.md", "readme.md.j2"),
    (".gitignore", "gitignore.j2"),
    ("src/{module}/py.typed", "py.typed.j2"),
)

KINDS = {
    "backend": Kind(
        "backends",
        (
            *_SHARED,
            ("src/{module}/__init__.py", "backend_init.py.j2"),
            ("src/{module}/backend.py", "backend.py.j2"),
            ("tests/test_{under}.py", "backend_test.py.j2"),
        ),
        "orgflowc compile MODEL --target {name}",
    ),
    "frontend": Kind(
        "frontends",
        (
            *_SHARED,
            ("src/{module}/__init__.py", "frontend_init.py.j2"),
            ("src/{module}/frontend.py", "frontend.py.j2"),
            ("src/{module}/rules.py", "frontend_rules.py.j2"),
            ("example.{joined}", "frontend_example.j2"),
            ("tests/test_{under}.py", "frontend_test.py.j2"),
        ),
        f"orgflowc compile example.{{joined}} --target {DEFAULT_TARGET}",
    ),
    "pass": Kind(
        "passes",
        (
            *_SHARED,
            ("src/{module}/__init__.py", "pass_init.py.j2"),
            ("src/{module}/checks.py", "pass.py.j2"),
            ("tests/test_{under}.py", "pass_test.py.j2"),
        ),
        "orgflowc check MODEL",
    ),
    "agent": Kind(
        "agents",
        (
            *_SHARED,
            ("src/{module}/__init__.py", "agent_init.py.j2"),
            ("src/{module}/agent.py", "agent.py.j2"),
            ("tests/test_{under}.py", "agent_test.py.j2"),
        ),
        "orgflowc list agents",
    ),
    "drafter": Kind(
        "agents",
        (
            *_SHARED,
            ("src/{module}/__init__.py", "agent_init.py.j2"),
            ("src/{module}/agent.py", "drafter.py.j2"),
            ("tests/test_{under}.py", "drafter_test.py.j2"),
        ),
        "orgflowc model TEXT --agent {name}",
    ),
}
"""Every kind with its files; words in braces are the fields of `names`."""


@click.command(
    "new", short_help="Create a package with a backend, frontend, pass, agent or drafter."
)
@click.argument("kind", metavar="|".join(KINDS), shell_complete=complete_among(*KINDS))
@click.argument("name", metavar="NAME")
@click.option(
    "-o",
    "output",
    metavar="DIR",
    help="Folder to create; it must not exist. [default: orgflow-NAME]",
)
def command(kind: str, name: str, output: str | None) -> None:
    """Create an installable package with a backend, frontend, pass, agent or drafter called NAME.

    An agent answers gaps of a model, a drafter produces a model from texts. The package works and
    its tests pass; change it to your needs.
    """
    if kind not in KINDS:
        raise click.UsageError(f"no kind `{kind}`; {suggest_name(kind, tuple(KINDS))}")
    fault = name_fault(kind, name)
    if fault is not None:
        raise click.UsageError(fault)
    folder = Path(f"orgflow-{name}" if output is None else output)
    _must_be_new(folder, output)
    files = [(folder / path, text) for path, text in create_package(kind, name)]
    write_files(files)
    write_stdout(_next_steps(folder, [path for path, _ in files], kind, name))


def name_fault(kind: str, name: str) -> str | None:
    """What is wrong with NAME, or `None`."""
    if not name:
        return "the name is empty; use one such as `whiteboard`"
    if not _NAME.fullmatch(name):
        near = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-0123456789")
        hint = f", such as `{near}`" if _NAME.fullmatch(near) else ", such as `white-board`"
        return (
            f"{name!r} is not a valid name; a name consists of lower-case letters and digits, "
            f"begins with a letter, and has single hyphens between words{hint}"
        )
    if len(name) > MAX_NAME:
        return f"the name has {len(name)} letters; the maximum is {MAX_NAME}"
    if name.split("-")[0] == "orgflow":
        return f"omit `orgflow` from the name; the package is named `orgflow-{name}`"
    if name in getattr(Registry(), KINDS[kind].table):
        return f"a {kind} `{name}` already exists; names must be unique"
    return None


def create_package(kind: str, name: str) -> list[tuple[str, str]]:
    """The files of a package: path relative to its folder, and text. `name` is a valid name."""
    loader = jinja2.FileSystemLoader(TEMPLATES)
    environment = jinja2.Environment(
        loader=loader,
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,
    )
    words = derive_names(kind, name)
    return [
        (path.format(**words), environment.get_template(template).render(words))
        for path, template in KINDS[kind].files
    ]


def derive_names(kind: str, name: str) -> dict[str, Any]:
    """The words that templates derive from a name: `white-board` gives the module
    `orgflow_white_board`, the class `WhiteBoard`, and codes such as `WHIT001`."""
    under, joined = name.replace("-", "_"), name.replace("-", "")
    letters = re.sub(r"[^A-Z]", "", name.upper())[:4]
    return {
        "kind": kind,
        "name": name,
        "under": under,
        "joined": joined,
        "module": f"orgflow_{under}",
        "camel": "".join(part.capitalize() for part in name.split("-")),
        "code": letters if len(letters) > 1 and not letters.startswith("OF") else f"X{letters}",
        "table": KINDS[kind].table,
        "contract": "agent" if kind == "drafter" else kind,
        "try_it": KINDS[kind].try_it.format(name=name, joined=joined),
    }


def _must_be_new(folder: Path, output: str | None) -> None:
    """Raises `OutputError` where something has the folder's name, or something on the way to it is
    no folder."""
    if output == "":
        raise click.UsageError("-o has no folder")
    try:
        taken = os.path.lexists(folder)
    except ValueError as error:  # a NUL in the path
        raise click.UsageError(f"{str(folder)!r} is not a path: {error}") from None
    if taken:
        what = "folder" if folder.is_dir() else "file"
        raise OutputError(f"the {what} {folder} exists; name another with -o, or remove it")


def _next_steps(folder: Path, paths: list[Path], kind: str, name: str) -> str:
    """What was made, and what to type next."""
    lines = [f"made the {kind} `{name}`:", *(f"  {path}" for path in paths), "", "next:"]
    steps = (
        f"cd {_quote_path(str(folder))}",
        "pip install -e '.[test]'",
        "pytest",
        derive_names(kind, name)["try_it"],
    )
    return "\n".join([*lines, *(f"  {step}" for step in steps)]) + "\n"


def _quote_path(path: str) -> str:
    return quote(path)
