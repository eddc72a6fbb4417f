"""The contracts of frontends, backends and reporters; `runners` contains that of runners, `agents`
those of agents."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TextIO

from orgflow_ir.diagnostics import Diagnostic, Fix, FixError, RetiredRule, Rule
from orgflow_ir.model import Model
from orgflow_ir.model.source import SourceFile, SourceKind
from orgflow_ir.pipeline.context import PassContext
from orgflow_ir.targets.artifact import Artifact, Emitted
from orgflow_ir.targets.spec import TargetSpec

if TYPE_CHECKING:
    from orgflow_ir.pipeline.operation_catalogue import Catalogue
    from orgflow_ir.plugins.deployment import Deployer
    from orgflow_ir.plugins.engines import EngineProvider
    from orgflow_ir.plugins.executions import ExecutionReader
    from orgflow_ir.plugins.open_work import OpenWorkReader
    from orgflow_ir.targets.comparison import Comparison
    from orgflow_ir.targets.merging import Merging
    from orgflow_ir.targets.verification import Verification


class Frontend(ABC):
    """Reads one language. `suffixes` are lower case with their dot; `sniff` decides between
    frontends that share a suffix, and which frontend reads a folder."""

    name: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]]
    accepts: ClassVar[frozenset[SourceKind]] = frozenset({SourceKind.BYTES})
    """The inputs of `parse` and `sniff`: a file or standard input is a `SourceStream` if `STREAM`
    is included, otherwise a `SourceFile`; a folder is a `SourceFolder`."""
    retired: ClassVar[tuple[RetiredRule, ...]] = ()
    summary: ClassVar[str] = ""

    @property
    def rules(self) -> tuple[type[Rule], ...]:
        """The rules that it reports; see `Backend.rules`."""
        return ()

    # `source` is `Any`, so that each frontend may name the one class that it accepts.

    @abstractmethod
    def parse(self, source: Any, ctx: PassContext) -> Model | None:
        """The model, with its oddities reported to `ctx`; `None` after an error that prevents
        reading it. `ctx.options["diagram"]` determines whether diagrams are kept. A stream is open
        at its first byte, and the caller closes it."""

    def sniff(self, source: Any) -> bool:
        """Whether the first bytes look like this language. A stream contains only the first
        `HEAD_BYTES` here; `parse` can read them again."""
        return source.suffix in self.suffixes

    def explains(self, source: Any) -> bool:
        """Whether `parse` reports which format a file is in that no frontend recognises."""
        del source
        return False

    def patched(self, source: SourceFile, model: Model, fix: Fix) -> bytes:
        """The file with a fix applied and all other bytes unchanged; `model` is the model read from
        it. Raises `FixError` if the format or the fix does not permit it."""
        del source, model, fix
        raise FixError(f"fixes cannot be written into files of the format `{self.name}`")


class Backend(ABC):
    """Emits one target. It does not access the disk or the clock, and is not called if there are
    errors (except flow errors that `--force` permits)."""

    name: ClassVar[str]
    retired: ClassVar[tuple[RetiredRule, ...]] = ()
    summary: ClassVar[str] = ""
    lint_replaces: ClassVar[frozenset[str]] = frozenset()
    """Names of passes whose findings are replaced by `lint` for files in this target's format."""

    @property
    def rules(self) -> tuple[type[Rule], ...]:
        """The rules that it reports. A class attribute suffices; a property can delay importing
        rules that a compile does not need."""
        return ()

    @property
    def server_rules(self) -> tuple[type[Rule], ...]:
        """The rules that report a failure of a server rather than of the model (exit code 3)."""
        return ()

    @property
    @abstractmethod
    def target(self) -> TargetSpec:
        """The support table of this target."""

    @abstractmethod
    def emit(self, model: Model, ctx: PassContext) -> Emitted:
        """The files for a model that is legal for `target`, and the map from their parts to
        elements."""

    def link(
        self, compiled: Sequence[tuple[Model, Emitted]], ctx: PassContext
    ) -> tuple[Emitted, ...]:
        """The output for several models that are compiled together, in their order: shared parts
        are in the first output that has them, and no two files have one path. By default, a second
        file of a path gets a number."""
        del ctx
        taken: set[str] = set()
        return tuple(emitted.apart(taken) for _, emitted in compiled)

    def keep_filled(
        self,
        compiled: Sequence[Emitted],
        there: Sequence[SourceFile],
        ctx: PassContext,
        bases: Callable[[str], str | None],
    ) -> tuple[Emitted, ...]:
        """The output, with the work that people implemented in files of an earlier compilation
        (`there`) which are about to be overwritten. Work that would be lost is an error in `ctx`.
        `bases` is as for `merge`. By default, nothing is kept."""
        del there, ctx, bases
        return tuple(compiled)

    def report_uncalled(
        self,
        compiled: Sequence[Emitted],
        beside: Sequence[SourceFile],
        ctx: PassContext,
        bases: Callable[[str], str | None],
    ) -> None:
        """Report work in files of earlier compilations (`beside`), next to the output, that neither
        the output nor another of these files uses. `bases` is as for `merge`. Nothing by
        default."""
        del compiled, beside, ctx, bases

    def meaning(self, model: Model) -> Model:
        """The model whose token game executions of the target follow, as `Runner.meaning`."""
        return model

    def engines(self) -> EngineProvider | None:
        """The runner that executes the files from `emit`, if there is one."""
        return None

    def validate(self, artifacts: Iterable[Artifact], ctx: PassContext) -> bool:
        """Whether the output of `emit` conforms to the schema of its format, published or the
        backend's own; faults are reported to `ctx`. Only `--verify` and the conformance kit call
        it, because it is too slow for every compile. True if the backend has no schema."""
        del artifacts, ctx
        return True

    def deployer(self) -> Deployer | None:
        """The deployer of the files from `emit`, if there is one."""
        return None

    def executions(self) -> ExecutionReader | None:
        """The reader of executions of deployed files, if there is one."""
        return None

    def open_work(self) -> OpenWorkReader | None:
        """The reader of open tasks and process instances on servers, if there is one."""
        return None

    def catalogue(self, where: str = "") -> Catalogue | None:
        """The installed operations for filling tasks; `None` if the target has none. `where` is an
        installation or the address of a server; the default is the usual installation. Raises
        `CatalogueError` if it does not exist."""
        del where
        return None

    def shape(self, artifact: Artifact) -> str:
        """A file without the traces of element ids, so that the results of the same model in two
        languages can be compared."""
        return artifact.text

    def lint(self, source: SourceFile, ctx: PassContext) -> None:  # noqa: B027  # optional
        """Report to `ctx` the faults of a file in this target's own format that the frontend of the
        same name and the passes do not find; nothing by default."""

    def stated_options(
        self, source: SourceFile, processes: Collection[str] = ()
    ) -> dict[str, str] | None:
        """The options with which a file of this target was compiled, without those that have their
        default values; `None` if it does not state any. Of a file with several workflows, those of
        the first that states some, among workflows of `processes` (ids; by default, all)."""
        del source, processes
        return None

    def diff(self, old: SourceFile, new: SourceFile, ctx: PassContext) -> Comparison | None:
        """The changes between two files of this target, behaviour first; `None` if the target has
        no comparison, or after an error that prevents it."""
        return None

    def merge(
        self,
        edited: SourceFile,
        emitted: Emitted,
        ctx: PassContext,
        bases: Callable[[str], str | None],
    ) -> Merging | None:
        """Merge the current output for a model into a file that was edited since the last compile;
        conflicts are reported to `ctx` as well. `bases` reads a file that an earlier compile put
        `beside`, by its path. `None` if the target has no merge, or after an error that prevents
        it."""
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
        """Whether a file of this target behaves like `model` (not lowered), process by process;
        findings are reported to `ctx` as well. `None` if the backend cannot verify files. `emitted`
        is the compiled output of this model, if it exists; the model is then not compiled again."""
        del model, source, ctx, strict, emitted
        return None


class Reporter(ABC):
    """Prints diagnostics in one format."""

    name: ClassVar[str]

    @abstractmethod
    def report(self, diagnostics: Iterable[Diagnostic], out: TextIO) -> None:
        """Write all of them."""


def __getattr__(name: str) -> Any:
    if name[:2] == "__":  # an import asks for `__path__`
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from orgflow_ir.moved_names import load_moved_attribute

    return load_moved_attribute(__name__, name)
