"""The contract of a lowering: a pattern that rewrites one use of a construct at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from orgflow_ir.model import Model
from orgflow_ir.model.constructs import ConstructUse
from orgflow_ir.pipeline import PassContext
from orgflow_ir.pipeline.outside import shown

if TYPE_CHECKING:
    from orgflow_ir.model.rewriter import Rewriter


class RewritePattern(ABC):
    """Rewrites what a target does not support into what it supports, one use at a time.

    The framework looks for uses of the constructs in `consumes` that the target does not allow,
    in every scope, and calls `rewrite` for each. What the rewriter makes gets the name of the
    pattern, the source elements it comes from and their place, and the note is reported with them.

    Attributes:
        name: words with hyphens between, unique on a target.
        consumes: constructs it rewrites, by dotted prefix.
        produces: constructs that may be there afterwards and were not before, by dotted prefix,
            derived ones included. Patterns of one target must not produce, over any number of
            steps, what they consume: legalisation would not end.
        loses: what gets lost; none where the result behaves as the source does.

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

    @abstractmethod
    def rewrite(self, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str | None:
        """Rewrite one use by edits of `rewriter`.

        Args:
            use: the construct, its element and the scope that holds it (none outside processes),
                as they were before this round of rewriting.
            rewriter: holds the model as edited so far; `rewriter.model` is the model before.
            ctx: for analyses of `use.scope` or `rewriter.model`.

        Returns:
            What became of the element, as a message; `None`, without an edit, where the pattern
            does not apply to this use.
        """

    def meaning(self, model: Model) -> Model:
        """The model whose runs one that the pattern rewrote has, where that loses nothing: itself.
        A pattern that makes a construct of which the token game counts one step several steps gives
        the model with these steps."""
        return model

    def takes(self, construct: str) -> bool:
        """Whether `consumes` covers a construct."""
        return any(covers(prefix, construct) for prefix in self.consumes)


def covers(prefix: str, construct: str) -> bool:
    """Whether a dotted prefix covers a construct: `task` covers `task` and `task.user`."""
    return construct == prefix or construct.startswith(prefix + ".")


class Rewritten(NamedTuple):
    """A use that a pattern rewrote, and what it says became of it."""

    pattern: RewritePattern
    use: ConstructUse
    note: str


class PatternError(RuntimeError):
    """A pattern breaks its contract; the message completes "lowering `x` …"."""


def rewrite_all(
    pattern: RewritePattern, uses: Iterable[ConstructUse], model: Model, ctx: PassContext
) -> tuple[Model, tuple[Rewritten, ...]]:
    """One round: rewrite those of the uses that a pattern takes and applies to.

    A use whose element or scope an earlier rewrite of the round has changed is left for the next
    round, in which it is looked at as it then is.

    Raises `PatternError`, and whatever the pattern raises.
    """
    from orgflow_ir.model.rewriter import Rewriter  # only where a construct is illegal

    rewriter = Rewriter(model, origin=pattern.name)
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
            raise PatternError(f"gave {shown(note)}, which is not a note")
        if note is None or not note.strip():
            raise PatternError("rewrote something and gave no note of it")
        if not edited:
            raise PatternError(f"gave a note and changed nothing: {note}")
        done.append(Rewritten(pattern, use, note))
    return rewriter.done(), tuple(done)


class AddedLowering(NamedTuple):
    """A pattern that a plugin adds to a target that is there already, by the target's name. It
    comes after the target's own, and only for what the target does not support itself."""

    target: str
    lowering: RewritePattern
