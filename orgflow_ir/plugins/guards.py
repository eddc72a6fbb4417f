"""Validates the objects that a plugin registers, and guards the calls of its frontends and
backends."""

from __future__ import annotations

import contextlib
import inspect
import sys
from collections.abc import Callable
from pathlib import PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Any

from orgflow_ir.diagnostics import RetiredRule, Rule
from orgflow_ir.diagnostics.core_rules import BrokenPlugin, FaultyLeaf, UnreadableInput
from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import Model
from orgflow_ir.model.source import Source, SourceFile, SourceKind, SourceStream
from orgflow_ir.pipeline import Pass, PassContext, Stage
from orgflow_ir.pipeline.outside import is_ours, validate_findings, validated_model, writable_model
from orgflow_ir.pipeline.value_texts import exception_text, print_traceback, show_value
from orgflow_ir.plugins.contracts import Backend, Frontend, Reporter
from orgflow_ir.targets import (
    AddedLowering,
    Illegal,
    Legal,
    LegalIf,
    RewritePattern,
    TargetSpec,
)
from orgflow_ir.targets.artifact import Artifact, Emitted, SourceMap

if TYPE_CHECKING:
    from orgflow_ir.pipeline import crashes
    from orgflow_ir.plugins import agents, message_stores
    from orgflow_ir.plugins.agents import Agent
else:  # agents and stores of messages, and after a crash
    crashes = LazyModule("orgflow_ir.pipeline.crashes")
    agents = LazyModule("orgflow_ir.plugins.agents")
    message_stores = LazyModule("orgflow_ir.plugins.message_stores")


def registration_fault(item: Any, kind: type) -> str | None:
    """The fault of an object that a hook returned, as the end of a sentence, or `None`.

    May raise any exception that the plugin's own properties raise.
    """
    if kind is AddedLowering:
        return _lowering_fault(item)
    if kind is Pass:
        if not isinstance(item, type):
            hint = "; it takes the class" if isinstance(item, Pass) else ""
            return f"{item!r}, which is not a pass class{hint}"
        if not issubclass(item, Pass):
            return f"{item!r}, which is not a subclass of `Pass`"
    elif isinstance(item, type) and issubclass(item, kind):
        return f"the class `{item.__name__}`; it takes an instance of it"
    elif not isinstance(item, kind):
        return f"{item!r}, which is not of type `{kind.__name__}`"
    name = getattr(item, "name", None)
    if not isinstance(name, str) or not name.strip() or not name.isprintable():
        return f"{_name_item(item)} with the name {name!r}"
    return _rules_fault(item, name) or _own_fault(item, name)


def _name_item(item: Any) -> str:
    return f"`{item.__name__ if isinstance(item, type) else type(item).__name__}`"


def _rules_fault(item: Any, name: str) -> str | None:
    rules = getattr(item, "rules", ())
    if not isinstance(rules, tuple):
        return f"`{name}`, whose `rules` are not a tuple"
    for rule in rules:
        if not (isinstance(rule, type) and issubclass(rule, Rule)):
            return f"`{name}`, whose rule {rule!r} is not a subclass of `Rule`"
        missing = [a for a in ("code", "name", "severity", "category") if not hasattr(rule, a)]
        if missing:
            return f"`{name}`, whose rule `{rule.__name__}` has no {' and no '.join(missing)}"
    retired = getattr(item, "retired", ())
    if not (isinstance(retired, tuple) and all(isinstance(r, RetiredRule) for r in retired)):
        return f"`{name}`, whose `retired` is not a tuple of `RetiredRule`"
    return None


def _own_fault(item: Any, name: str) -> str | None:
    if isinstance(item, type):
        return _pass_fault(item, name)
    if isinstance(item, Frontend):
        if not isinstance(getattr(item, "suffixes", None), tuple):
            return f"`{name}`, whose `suffixes` are not a tuple"
        wrong = accepts_fault(item.accepts)
        return None if wrong is None else f"`{name}`, whose {wrong}"
    if isinstance(item, Backend):
        target = item.target
        if not isinstance(target, TargetSpec):
            return f"`{name}`, whose `target` is {target!r} and no `TargetSpec`"
        if target.name != name:
            return f"`{name}`, whose target has the name `{target.name}`"
        wrong = _target_fault(target)
        return None if wrong is None else f"`{name}`, whose target has {wrong}"

    return (
        None
        if isinstance(item, Reporter | message_stores.StoreProvider)
        else _agent_fault(item, name)
    )


def _target_fault(target: Any) -> str | None:
    """What is wrong in the tables of a target, as the end of "the target has"."""
    for construct, verdict in target.constructs.items():
        if not isinstance(verdict, Legal | LegalIf | Illegal):
            return f"{show_value(verdict)} for `{construct}`: no `Legal`, `LegalIf` or `Illegal`"
    for field in ("derivations", "lowerings"):
        if not isinstance(getattr(target, field), tuple):
            return f"`{field}` that are not a tuple"
    for derive in target.derivations:
        if not callable(derive):
            return f"the derivation {show_value(derive)}, which is not a function"
    names = []
    for lowering in target.lowerings:
        if (wrong := _pattern_fault(lowering)) is not None:
            return f"the lowering {wrong}"
        names.append(lowering.name)
    twice = next((name for name in names if names.count(name) > 1), None)
    return None if twice is None else f"two lowerings with the name `{twice}`"


def _agent_fault(item: Any, name: str) -> str | None:
    if not isinstance(item, agents.GapAgent | agents.ModelAgent):
        return f"`{name}`, which is neither a `GapAgent` nor a `ModelAgent`"
    if isinstance(item, agents.GapAgent):
        kinds: Any = item.kinds
        if kinds is not None and not (isinstance(kinds, frozenset) and kinds <= agents.GAP_KINDS):
            return (
                f"`{name}`, whose `kinds` is {show_value(kinds)}, not a frozenset of kinds of gaps"
            )
        attempts: Any = item.attempts
        if type(attempts) is not int or not 1 <= attempts <= agents.MAX_ATTEMPTS:
            most = agents.MAX_ATTEMPTS
            return f"`{name}`, whose `attempts` is {show_value(attempts)}, not 1 to {most}"
    return None


def accepts_fault(accepts: Any) -> str | None:
    """The fault in the inputs that a frontend declares, or `None`."""
    if not isinstance(accepts, frozenset) or not all(isinstance(k, SourceKind) for k in accepts):
        return f"`accepts` is {show_value(accepts)}, not a frozenset of `SourceKind`"
    return None if accepts else "`accepts` is empty"


def _pass_fault(cls: Any, name: str) -> str | None:
    """A pass is made without arguments when a pipeline takes it up."""
    if inspect.isabstract(cls):
        return f"`{name}`, a pass without {' and '.join(sorted(cls.__abstractmethods__))}"
    if not isinstance(getattr(cls, "stage", None), Stage):
        return f"`{name}`, a pass without a `stage`"
    try:
        cls()
    except TypeError as error:
        return f"`{name}`, a pass that cannot be constructed without arguments: {error}"
    return None


def _lowering_fault(item: Any) -> str | None:
    if not isinstance(item, AddedLowering):
        return f"{item!r}, which is not of type `AddedLowering`"
    return _pattern_fault(item.lowering)


def _pattern_fault(lowering: Any) -> str | None:
    if not isinstance(lowering, RewritePattern):
        return f"{show_value(lowering)}, which is not of type `RewritePattern`"
    name = getattr(lowering, "name", None)
    if not isinstance(name, str) or not name.strip():
        return f"{_name_item(lowering)} with the name {name!r}"
    for field in ("consumes", "produces"):
        prefixes = getattr(lowering, field, None)
        if not isinstance(prefixes, tuple) or not all(isinstance(p, str) for p in prefixes):
            return f"`{name}`, whose `{field}` is not a tuple of constructs"
    if not isinstance(lowering.loses, str | None):
        return f"`{name}`, whose `loses` is {show_value(lowering.loses)} and no text"
    return None


# -- at work ---------------------------------------------------------------------------------------


def parse_guarded(frontend: Frontend, source: Source, ctx: PassContext) -> Model | None:
    """The model that a frontend reads from a file, or `None` after an error: OF903 if an external
    frontend fails or returns something other than a model, or if any frontend returns no model
    without a reason; OF002 if the file itself cannot be read to its end."""
    ctx.file = source.path

    def parse_source() -> Model | None:
        try:
            model = frontend.parse(source, ctx)
        except Exception:
            if _fault_of(source) is None:
                raise
            return None
        if not isinstance(model, Model):
            return model
        model = validated_model(frontend, model)
        return writable_model(model, source.path, ctx) if _may_be_unwritable(source) else model

    done, model = _try_call(frontend, parse_source, ctx)
    if (unread := _fault_of(source)) is not None:
        reason = (unread.strerror or str(unread)).lower()
        ctx.emit(UnreadableInput, f"{source.path} cannot be read: {reason}", help="check the file")
        return None
    if isinstance(model, Model):
        return model
    if not done:
        return None
    if model is not None:
        _report_faulty(frontend, f"returned {show_value(model)}, which is not a model", ctx)
    elif not ctx.has_errors:
        _report_faulty(frontend, f"returned no model of {source.path} and gave no reason", ctx)
    return None


_MARKS = (b"\\u", b"\\b", b"\\f", b"\x00", b"\xef\xbf")
"""What stands where JSON has such a character: an escape, U+FFFE and U+FFFF, or UTF-16."""


def _may_be_unwritable(source: Source) -> bool:
    """Whether texts of a source may contain what outputs cannot hold; XML and most JSON cannot."""
    if not isinstance(source, SourceFile):
        return True
    return any(mark in source.data for mark in _MARKS)


def _fault_of(source: Source) -> OSError | None:
    return source.fault if isinstance(source, SourceStream) else None


def sniff_guarded(frontend: Frontend, source: Source, ctx: PassContext) -> bool:
    """Whether a frontend recognises a file; if an external one fails, OF001 is reported and the
    result is false."""
    if is_ours(frontend):
        return frontend.sniff(source)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            return bool(frontend.sniff(source))
    except (Exception, SystemExit) as error:  # noqa: BLE001  # it must not end the program
        print_traceback(error)
        ctx.emit(
            BrokenPlugin,
            f"{leaf_name(frontend, ctx)} cannot determine whether {source.path} is in its format, "
            "and is omitted: "
            f"`sniff` failed with {exception_text(error)}",
            help=_HELP,
        )
        return False


def emit_guarded(backend: Backend, model: Model, ctx: PassContext) -> Emitted | None:
    """The output of a backend for a model, or `None` after an error: OF903 if an external backend
    fails, or if any backend returns something that cannot be written."""
    done, emitted = _try_call(backend, lambda: backend.emit(model, ctx), ctx)
    if not done or ctx.has_errors:
        return None
    wrong = emitted_fault(emitted, is_written_as_utf8=is_ours(backend))
    if wrong is not None:
        _report_faulty(backend, wrong, ctx)
        return None
    assert isinstance(emitted, Emitted)
    return emitted


def emitted_fault(emitted: Any, *, is_written_as_utf8: bool = False) -> str | None:
    """The fault in the result of `emit`, as a predicate about the backend, or `None`. Texts are
    not examined if they are known to be representable as UTF-8."""
    if not isinstance(emitted, Emitted):
        return f"returned {show_value(emitted)}, which is not an `Emitted`"
    if not isinstance(emitted.source_map, SourceMap):
        return (
            f"returned the source map {show_value(emitted.source_map)}, which is not a `SourceMap`"
        )
    artifacts: Any = emitted.artifacts
    if not isinstance(artifacts, tuple | list):
        return f"returned {show_value(artifacts)}, which is not a tuple of `Artifact`"
    if not artifacts:
        return "returned no file and gave no reason"
    for artifact in artifacts:
        if not isinstance(artifact, Artifact):
            return f"returned {show_value(artifact)}, which is not an `Artifact`"
        path, text = artifact
        if not isinstance(path, str) or not isinstance(text, str):
            return f"returned {show_value(artifact)}, whose path and text are not both text"
        if (wrong := _path_fault(path)) is not None:
            return f"returned a file with the path {show_value(path)}, {wrong}"
        if is_written_as_utf8:
            continue
        try:
            text.encode("utf-16")  # takes what UTF-8 takes, in half the time
        except UnicodeEncodeError as error:
            at = text.count("\n", 0, error.start) + 1
            return (
                f"returned a file `{path}` that cannot be written as UTF-8: {error.reason}, line "
                f"{at}"
            )
    paths = [a.path.lower() for a in artifacts]
    twice = (
        next((p for p in paths if paths.count(p) > 1), None)
        if len(set(paths)) < len(paths)
        else None
    )
    return f"returned two files with the path `{twice}`" if twice is not None else None


def _path_fault(path: str) -> str | None:
    windows = PureWindowsPath(path)
    if windows.drive or windows.root or ".." in windows.parts or not PurePosixPath(path).name:
        return "which is not inside the output folder"
    return None if path.isprintable() else "which not every file system supports"


def _try_call(leaf: Any, call: Callable[[], Any], ctx: PassContext) -> tuple[bool, Any]:
    """Whether a call went through, and what it gave. Faults in our own code are OF901; exceptions
    of ours, such as the cancellation of a run, go on."""
    if is_ours(leaf):
        try:
            return True, call()
        except Exception as error:
            if not crashes.is_fault(error):
                raise
            print_traceback(error)
            crashes.report_fault(leaf_name(leaf, ctx), error, ctx, "report this with the model")
            return False, None
    since = len(ctx.diagnostics)
    try:
        with contextlib.redirect_stdout(sys.stderr):  # ours is for the artifact
            try:
                return True, call()
            finally:
                validate_findings(leaf, ctx, since)
    except MemoryError:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001  # it must not end the program
        print_traceback(error)
        _report_faulty(
            leaf, f"failed with {exception_text(error)} (ORGFLOW_DEBUG=1 shows where)", ctx
        )
        return False, None


class FaultyResult(TypeError):
    """The result of a leaf's method violates its contract.

    Attributes:
        leaf: the leaf.
    """

    def __init__(self, leaf: Backend, method: str, result: Any, kind: type) -> None:
        super().__init__(
            f"`{method}` of backend `{leaf.name}` returned {show_value(result)}, which is not "
            "of type "
            f"`{kind.__name__}`"
        )
        self.leaf = leaf


def call_guarded(backend: Backend, method: str, kind: type, *args: Any, **more: Any) -> Any:
    """The result of a backend's method: a `kind`, or `None`.

    Raises:
        FaultyResult: the result has another type.
    """
    result = getattr(backend, method)(*args, **more)
    if result is not None and not isinstance(result, kind):
        raise FaultyResult(backend, method, result, kind)
    return result


_HELP = "update or uninstall the package that provides it"


def _report_faulty(leaf: Frontend | Backend, what: str, ctx: PassContext) -> None:
    ctx.emit(
        FaultyLeaf, f"{leaf_name(leaf, ctx)} {what}", help=_HELP if not is_ours(leaf) else None
    )


def leaf_name(leaf: Frontend | Backend | Agent, ctx: PassContext) -> str:
    """The name of a leaf, with its plugin if that has another name."""
    kinds = {Frontend: "frontend", Backend: "backend"}
    kind = next((word for of, word in kinds.items() if isinstance(leaf, of)), "agent")
    owner = ctx.registry.plugin_of(leaf) if ctx.registry is not None else None
    return f"{kind} `{leaf.name}`" + (f" of plugin `{owner}`" if owner is not None else "")
