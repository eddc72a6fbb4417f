"""A plugin with a target `toy` that is deployed to a folder: nothing about it is like a server."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from orgflow_ir.diagnostics import Category, Rule, Severity
from orgflow_ir.model import Model
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import hookimpl
from orgflow_ir.plugins.contracts import Backend
from orgflow_ir.plugins.deployment import (
    Deployable,
    Deployed,
    Deployer,
    DeployOptions,
    DeployPlan,
    DeployResult,
    DeploySession,
)
from orgflow_ir.plugins.engines import AccessError, RemoteError, ServerAccess
from orgflow_ir.targets import Legal, TargetSpec
from orgflow_ir.targets.artifact import Artifact, Emitted


class FolderMissing(Rule):
    """
    What it finds
        A folder to deploy to that does not exist.
    """

    code = "OF698"
    name = "toy-folder-missing"
    category = Category.DEPLOY
    severity = Severity.ERROR


class EditedFile(Rule):
    """
    What it finds
        A deployed file that was edited.
    """

    code = "OF699"
    name = "toy-edited-file"
    category = Category.DEPLOY
    severity = Severity.ERROR


class FolderError(RemoteError):
    """A folder cannot be read."""

    def report(self, ctx: PassContext) -> None:
        ctx.emit(FolderMissing, str(self), help="make it")


class Wanted(NamedTuple):
    """A file to put there."""

    name: str
    source: str
    text: str


class ToyPlan(DeployPlan):
    """Files to write; each is a group of its own."""

    def __init__(self, folder: Path, wanted: Sequence[Wanted], options: DeployOptions) -> None:
        self._folder = folder
        self._wanted = wanted
        self._options = options
        self._results: list[DeployResult] = []

    def _action(self, one: Wanted) -> str:
        path, mark = self._folder / one.name, self._folder / f".{one.name}"
        if not path.exists():
            return "created"
        text = path.read_text("utf-8")
        if text == one.text:
            return "unchanged"
        mine = mark.exists() and mark.read_text("utf-8") == _digest(text)
        return "updated" if mine or self._options.take_over else "edited"

    def preview(self, ctx: PassContext, width: int) -> Iterator[str]:
        for one in self._wanted:
            self._report(one, ctx)
            yield f"{self._action(one)}  {one.name}\n"

    def _report(self, one: Wanted, ctx: PassContext) -> None:
        if self._action(one) == "edited":
            ctx.emit(EditedFile, f"`{one.name}` was edited", help="use --take-over")

    def apply(self, ctx: PassContext) -> None:
        for at, one in enumerate(self._wanted):
            ctx.services.progress(at, len(self._wanted), one.name)
            action = self._action(one)
            if action == "edited":
                self._results.append(DeployResult((one.name,)))
                continue
            (self._folder / one.name).write_text(one.text, "utf-8")
            (self._folder / f".{one.name}").write_text(_digest(one.text), "utf-8")
            made = Deployed(one.name, one.source, one.name, action, "published")
            self._results.append(DeployResult((one.name,), (made,)))

    @property
    def results(self) -> tuple[DeployResult, ...]:
        return tuple(self._results)

    def report(self, ctx: PassContext) -> None:
        for one, result in zip(self._wanted, self._results, strict=True):
            if not result.ok:
                self._report(one, ctx)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


class ToySession(DeploySession):
    """One folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.options = {"case": "upper"}

    def read(
        self, source: SourceFile, path: str, ctx: PassContext, *, name: str | None
    ) -> list[Wanted]:
        return [Wanted(name or source.stem, path, source.data.decode())]

    def compiled(
        self, emitted: Emitted, model: Model, path: str, ctx: PassContext, *, named: bool
    ) -> list[Wanted]:
        return [Wanted(one.path, path, one.text) for one in emitted.artifacts]

    def plan(self, wanted: Sequence[Deployable], options: DeployOptions) -> DeployPlan:
        if not self._folder.is_dir():
            raise FolderError(f"{self._folder} does not exist")
        return ToyPlan(self._folder, [w for w in wanted if isinstance(w, Wanted)], options)


class ToyDeployer(Deployer):
    """To the folder that stands in the place of an address."""

    @contextlib.contextmanager
    def connect(self, access: ServerAccess, ctx: PassContext) -> Iterator[DeploySession | None]:
        if "://" in access.address:
            raise AccessError(f"`{access.address}` is no folder")
        yield ToySession(Path(access.address))


class Toy(Backend):
    """The names of the steps, in the case that an option says."""

    name = "toy"
    rules = (FolderMissing, EditedFile)
    server_rules = (FolderMissing,)
    target = TargetSpec(
        "toy",
        {"task": Legal(), "event": Legal(), "flow": Legal()},
        options={"case": ("lower", "upper")},
    )

    def emit(self, model: Model, ctx: PassContext) -> Emitted:
        text = ", ".join(n.label for s in model.scopes() for n in s.nodes) + "\n"
        text = text.upper() if ctx.options["case"] == "upper" else text.lower()
        return Emitted.whole(model, Artifact("steps.txt", text))

    def deployer(self) -> Deployer:
        return ToyDeployer()


@hookimpl
def orgflow_backends() -> list[Backend]:
    return [Toy()]
