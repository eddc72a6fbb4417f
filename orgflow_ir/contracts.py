"""The contracts of the leaves: frontend, backend, runner, agent, reporter."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar, TextIO

from orgflow_ir.diagnostics import Diagnostic, Fix, Rule
from orgflow_ir.model import Model
from orgflow_ir.pass_manager import PassContext
from orgflow_ir.source import SourceFile
from orgflow_ir.target import TargetSpec


class Frontend(ABC):
    """Reads one language. `suffixes` are lower case with their dot; `sniff` decides between
    frontends that share a suffix."""

    name: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]]
    rules: ClassVar[tuple[type[Rule], ...]] = ()
    summary: ClassVar[str] = ""

    @abstractmethod
    def parse(self, source: SourceFile, ctx: PassContext) -> Model | None:
        """The model, with everything odd about it reported to `ctx`; `None` after an error that
        leaves nothing to work with. Reads `ctx.options["diagram"]`: whether to keep drawings."""

    def sniff(self, source: SourceFile) -> bool:
        """Whether the first bytes look like this language."""
        return source.suffix in self.suffixes


@dataclass(frozen=True)
class Artifact:
    """A file to be written: path relative to the output folder, and its text."""

    path: str
    text: str


@dataclass(frozen=True)
class NodeExecution:
    """One executed node of a run on a target: its name, the element it stands for, the flows that
    got a token (`None`: not known)."""

    node: str
    element: str | None
    status: str = "success"


@dataclass(frozen=True)
class RunResult:
    """What a runner saw: executed nodes in order, how the run ended, and why."""

    status: str
    executed: tuple[NodeExecution, ...]
    error: str | None = None
    changed: tuple[str, ...] = ()
    milliseconds: float = 0.0


class Runner(ABC):
    """Executes emitted artifacts with scripted decisions: element → one value map a visit."""

    @abstractmethod
    def run(
        self, artifacts: tuple[Artifact, ...], start: str, script: Mapping[str, tuple[str, ...]]
    ) -> RunResult:
        """One run from start event `start`; `script` gives, per splitting element, the flow ids it
        shall take at each visit, comma-separated where it takes several."""

    @abstractmethod
    def close(self) -> None:
        """End whatever the runner started."""


class Backend(ABC):
    """Writes one target: no disk, no clock, and not called while errors stand (but for flow errors
    that `--force` lets through)."""

    name: ClassVar[str]
    rules: ClassVar[tuple[type[Rule], ...]] = ()
    summary: ClassVar[str] = ""

    @property
    @abstractmethod
    def target(self) -> TargetSpec:
        """What this target can say."""

    @abstractmethod
    def emit(self, model: Model, ctx: PassContext) -> tuple[Artifact, ...]:
        """The files for a model that is legal for `target`."""

    def runner(self) -> Runner | None:
        """Something that executes what `emit` gives, if there is such a thing."""
        return None


class Agent(ABC):
    """Proposes fills for gaps: an answer to a diagnostic of one of the rules `fills`."""

    name: ClassVar[str]
    fills: ClassVar[tuple[type[Rule], ...]]
    summary: ClassVar[str] = ""

    @abstractmethod
    def propose(self, diagnostic: Diagnostic, model: Model, ctx: PassContext) -> tuple[Fix, ...]:
        """Fixes to try, best first."""


class Reporter(ABC):
    """Prints diagnostics in one format."""

    name: ClassVar[str]

    @abstractmethod
    def report(self, diagnostics: Iterable[Diagnostic], out: TextIO) -> None:
        """Write all of them."""
