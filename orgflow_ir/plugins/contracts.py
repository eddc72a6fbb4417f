"""The contracts of the leaves: frontend, backend, runner, reporter; `agents` has the others."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TextIO

from orgflow_ir.diagnostics import Diagnostic, Fix, FixError, RetiredRule, Rule
from orgflow_ir.model import Model
from orgflow_ir.model.source import SourceFile, SourceKind
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets import TargetSpec

if TYPE_CHECKING:
    from orgflow_ir.analysis.token_game.runs import Run
    from orgflow_ir.plugins.deployment import Deployer
    from orgflow_ir.plugins.engines import EngineProvider
    from orgflow_ir.plugins.executions import ExecutionReader
    from orgflow_ir.targets.catalogue import Catalogue
    from orgflow_ir.targets.comparison import Comparison
    from orgflow_ir.targets.merging import Merging
    from orgflow_ir.targets.verification import Verification
from orgflow_ir.targets.artifact import Artifact, Emitted


class Frontend(ABC):
    """Reads one language. `suffixes` are lower case with their dot; `sniff` decides between
    frontends that share a suffix, and which frontend reads a folder."""

    name: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]]
    accepts: ClassVar[frozenset[SourceKind]] = frozenset({SourceKind.BYTES})
    """What `parse` and `sniff` are given: for a file or standard input a `SourceStream` where
    `STREAM` is in it, else a `SourceFile`; for a folder a `SourceFolder`."""
    retired: ClassVar[tuple[RetiredRule, ...]] = ()
    summary: ClassVar[str] = ""

    @property
    def rules(self) -> tuple[type[Rule], ...]:
        """The rules that it reports: see `Backend.rules`."""
        return ()

    # `source` is `Any`, so that each frontend may name the one class that it accepts.

    @abstractmethod
    def parse(self, source: Any, ctx: PassContext) -> Model | None:
        """The model, with everything odd about it reported to `ctx`; `None` after an error that
        leaves nothing to work with. Reads `ctx.options["diagram"]`: whether to keep drawings.
        A stream is open, at its first byte, and closed by the caller."""

    def sniff(self, source: Any) -> bool:
        """Whether the first bytes look like this language. A stream holds only the first
        `HEAD_BYTES` here; whatever is read of it comes again in `parse`."""
        return source.suffix in self.suffixes

    def patched(self, source: SourceFile, model: Model, fix: Fix) -> bytes:
        """The file with a fix made, all else byte for byte as it was; `model` is what it was read
        as. Raises `FixError` where the format or the fix does not allow it."""
        del source, model, fix
        raise FixError(f"fixes cannot be written into files of the format `{self.name}`")


class NodeExecution(NamedTuple):
    """One executed node of a run on a target, by name, and the element it stands for, if any."""

    node: str
    element: str | None
    status: str = "success"


class RunResult(NamedTuple):
    """What a runner saw: executed nodes in order, how the run ended, and why.

    `status` is `success`, `error`, `limit`, or `unplayable` where no data makes the workflow take
    the run's choices (`error` says why).
    """

    status: str
    executed: tuple[NodeExecution, ...] = ()
    error: str | None = None
    milliseconds: float = 0.0


class RunnerError(RuntimeError):
    """The engine of a runner is missing, does not start, or refuses what it was given."""


class Runner(ABC):
    """Executes what a backend emits with the decisions of given runs of the model.

    It never edits an emitted expression: only bodies of placeholders and outside effects are
    replaced; `changed` lists what differs from the delivered artifacts.
    """

    @abstractmethod
    def load(self, emitted: Emitted, process: str, ctx: PassContext) -> None:
        """Prepare for runs of a process of what the backend emitted; nothing is compiled again.
        Raises `RunnerError` where the engine is missing or refuses the artifact."""

    @property
    @abstractmethod
    def visible(self) -> frozenset[str]:
        """Elements that a node stands for, so their execution can be seen."""

    @property
    @abstractmethod
    def changed(self) -> tuple[str, ...]:
        """What differs from the delivered artifacts, a line each."""

    @abstractmethod
    def play(self, runs: Iterable[Run]) -> Iterator[RunResult]:
        """Execute each run's choices and return the results, in order."""

    @abstractmethod
    def close(self) -> None:
        """End whatever was started."""

    def meaning(self, model: Model) -> Model:
        """The model whose token game the runs of the target follow: itself, or with what the target
        makes several steps of as these steps."""
        return model


class Backend(ABC):
    """Writes one target: no disk, no clock, and not called while errors stand (but for flow errors
    that `--force` lets through)."""

    name: ClassVar[str]
    retired: ClassVar[tuple[RetiredRule, ...]] = ()
    summary: ClassVar[str] = ""
    lint_replaces: ClassVar[frozenset[str]] = frozenset()
    """Names of passes whose findings `lint` replaces in files in this target's format."""

    @property
    def rules(self) -> tuple[type[Rule], ...]:
        """The rules that it reports. A class attribute does; a property can import rules that a
        compile does not need when they are first asked for."""
        return ()

    @property
    def server_rules(self) -> tuple[type[Rule], ...]:
        """The rules that report a failure of a server and not of the model: exit code 3."""
        return ()

    @property
    @abstractmethod
    def target(self) -> TargetSpec:
        """The support table of this target."""

    @abstractmethod
    def emit(self, model: Model, ctx: PassContext) -> Emitted:
        """The files for a model that is legal for `target`, and what stands for what in them."""

    def meaning(self, model: Model) -> Model:
        """The model whose token game executions of the target follow, as `Runner.meaning`."""
        return model

    def engines(self) -> EngineProvider | None:
        """What executes the files that `emit` gives, if there is such a thing."""
        return None

    def validate(self, artifacts: Iterable[Artifact], ctx: PassContext) -> bool:
        """Whether what `emit` gave keeps to the published or own schema of its format; faults go
        to `ctx`. Too slow for every compile: `--verify` and the conformance kit call it. True
        where the backend has no schema."""
        del artifacts, ctx
        return True

    def deployer(self) -> Deployer | None:
        """What puts the files that `emit` gives in place, if there is such a thing."""
        return None

    def executions(self) -> ExecutionReader | None:
        """What reads the executions that deployed files left, if there is such a thing."""
        return None

    def catalogue(self, where: str = "") -> Catalogue | None:
        """The operations that tasks can be filled with, as they are installed; `None` where the
        target has none. `where` is an installation or the address of a server, else the usual
        installation. Raises `CatalogueError` where it does not exist."""
        del where
        return None

    def shape(self, artifact: Artifact) -> str:
        """A file without what the ids of elements leave in it, so the results of the same model in
        two languages can be compared."""
        return artifact.text

    def lint(self, source: SourceFile, ctx: PassContext) -> None:  # noqa: B027  # optional
        """Report to `ctx` what is wrong with a file in this target's own format, beyond what the
        frontend of the same name and the passes can tell; nothing by default."""

    def diff(self, old: SourceFile, new: SourceFile, ctx: PassContext) -> Comparison | None:
        """What changed between two files of this target, behaviour first; `None` where the target
        has no such comparison, or after an error that leaves nothing to compare."""
        return None

    def merge(
        self,
        edited: SourceFile,
        emitted: Emitted,
        ctx: PassContext,
        bases: Callable[[str], str | None],
    ) -> Merging | None:
        """Put what a model is compiled to now into a file that somebody has edited since the last
        compile; conflicts go to `ctx`, too. `bases` reads a file that an earlier compile put
        `beside`, by its path. `None` where the target has no such merge, or after an error that
        leaves nothing to merge."""
        del edited, emitted, ctx, bases
        return None

    def verify(
        self,
        model: Model,
        source: SourceFile,
        ctx: PassContext,
        *,
        strict: bool = False,
        emitted: Emitted | None = None,
    ) -> tuple[Verification, ...] | None:
        """Whether a file of this target does what `model` (not lowered) says, process by process;
        findings are reported to `ctx` as well. `None` where the backend has no way to tell.
        `emitted` is what this model was compiled to, if it was; it is not compiled again."""
        del model, source, ctx, strict, emitted
        return None


class Reporter(ABC):
    """Prints diagnostics in one format."""

    name: ClassVar[str]

    @abstractmethod
    def report(self, diagnostics: Iterable[Diagnostic], out: TextIO) -> None:
        """Write all of them."""
