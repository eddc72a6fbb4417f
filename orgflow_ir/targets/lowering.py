"""The contract of a lowering: a pattern that rewrites one use of a construct at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from orgflow_ir.diagnostics import Rule
from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import Model
from orgflow_ir.model.constructs import ConstructUse
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.pipeline.context import PassContext
from orgflow_ir.pipeline.value_texts import show_value

if TYPE_CHECKING:
    from orgflow_ir.model import rewriter as model_rewriter
    from orgflow_ir.model.rewriter import Rewriter
else:  # a model that has to be rewritten
    model_rewriter = LazyModule("orgflow_ir.model.rewriter")


class RewritePattern(ABC):
    """Rewrites unsupported constructs into supported ones, one use at a time.

    The framework finds the uses of the constructs in `consumes` that the target does not support,
    in every scope, and calls `rewrite` for each. Elements that the rewriter makes get the name of
    the pattern, their source elements and the place of these; the note is reported with them.

    Attributes:
        name: words joined by hyphens, unique on a target.
        consumes: constructs that it rewrites, by dotted prefix.
        produces: constructs that a rewrite may introduce, by dotted prefix, including derived ones.
            Patterns of one target must not produce what they consume, even in several steps,
            because legalisation would not terminate.
        loses: the information that is lost; empty if the result behaves like the source.
        reports: the rule under which its notes are reported, at the severity of the rule; by
            default, OF401, or OF402 as a warning if it loses something. A pattern with its
            own rule only omits elements that never happen, so the construct counts as unsupported.

    Example:
        class EscalationToTask(RewritePattern):
            name = "escalation-to-task"
            consumes = ("event.throw.escalation",)
            produces = ("task.send",)
            loses = "who reacts to the escalation"

            def rewrite(self, use, rewriter, ctx):
                event = use.element
                task = Task(id=event.id, name=event.name, task_type="send")
                rewriter.replace(use.scope.id, event.id, task)
                return f"the escalation `{event.label}` became a task"
    """

    name: ClassVar[str]
    consumes: ClassVar[tuple[str, ...]]
    produces: ClassVar[tuple[str, ...]] = ()
    loses: ClassVar[str | None] = None
    reports: ClassVar[type[Rule] | None] = None

    @abstractmethod
    def rewrite(self, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str | None:
        """Rewrite one use by edits of `rewriter`.

        Args:
            use: the construct, its element and the scope that contains it (none outside processes),
                as they were before this round of rewriting.
            rewriter: contains the model as edited so far; `rewriter.model` is the model before the
                edits.
            ctx: for analyses of `use.scope` or `rewriter.model`.

        Returns: A message about the result for the element; `None`, without an edit, if the pattern
            does not apply to this use.
        """

    def meaning(self, model: Model) -> Model:
        """The model with the same runs as a model that the pattern rewrote without loss; by
        default, the model itself. If a pattern replaces a construct that is one step in the token
        game with several steps, this is the model with these steps."""
        return model

    def takes(self, construct: str) -> bool:
        """Whether `consumes` covers a construct."""
        for prefix in self.consumes:
            if construct.startswith(prefix) and covers_construct(prefix, construct):
                return True
        return False


def covers_construct(prefix: str, construct: str) -> bool:
    """Whether a dotted prefix covers a construct: `task` covers `task` and `task.user`."""
    return construct == prefix or construct.startswith(prefix + ".")


class Rewritten(NamedTuple):
    """A use that a pattern rewrote, and the pattern's message about it."""

    pattern: RewritePattern
    use: ConstructUse
    note: str


class PatternError(RuntimeError):
    """A pattern breaks its contract; the message completes "lowering `x` …"."""


def rewrite_all(
    pattern: RewritePattern, uses: Iterable[ConstructUse], model: Model, ctx: PassContext
) -> tuple[Model, tuple[Rewritten, ...]]:
    """One round: rewrite the uses that a pattern matches and applies to.

    If an earlier rewrite in the round has changed the element or scope of a use, the use is left
    for the next round, which examines its new form.

    Raises `PatternError`, and any exception that the pattern raises.
    """
    rewriter = model_rewriter.Rewriter(model, origin=pattern.name)
    done: list[Rewritten] = []
    edits = 0
    for use in uses:
        if not pattern.takes(use.construct) or rewriter.stale(use.scope, use.element.id):
            continue
        rewriter.about(use.element)
        note: Any = pattern.rewrite(use, rewriter, ctx)
        edited = rewriter.count != edits
        edits = rewriter.count
        if note is None and not edited:
            continue
        if note is not None and not isinstance(note, str):  # a plugin's need not be text
            raise PatternError(f"returned {show_value(note)}, which is not a note")
        if note is None or not note.strip():
            raise PatternError("rewrote something without returning a note")
        if not edited:
            raise PatternError(f"returned a note but changed nothing: {note}")
        done.append(Rewritten(pattern, use, note))
    return rewriter.done(), tuple(done)


class AddedLowering(NamedTuple):
    """A pattern that a plugin adds to an existing target, by the target's name. It is tried after
    the target's own patterns, and only for constructs that the target does not support itself."""

    target: str
    lowering: RewritePattern
