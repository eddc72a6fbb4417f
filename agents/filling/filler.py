"""Fills open tasks with operations of a target's catalogue, in three checked steps: an operation,
its input and output variables, the parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeVar

from orgflow.agents.feedback import feedback_about
from orgflow.agents.filling.arrange import SCHEMA, Arrangement, arrange_prompt, read_arrangement
from orgflow.agents.filling.choose import (
    Unusable,
    choose_prompt,
    choose_schema,
    find_candidates,
    read_choice,
)
from orgflow.agents.filling.context import TaskContext, task_context
from orgflow.agents.filling.filling_rules import LeftOutParameter, UnfilledTask
from orgflow.agents.filling.parameters import (
    answer_schema,
    describe_faults,
    find_faults,
    keep_valid,
    parameter_prompt,
    read_values,
)
from orgflow.agents.model_client.answer_reading import UnreadableAnswer, read_json
from orgflow.agents.prompting import render_prompt, visible_text

from orgflow_ir.diagnostics import Rule, Severity
from orgflow_ir.gaps.gap import Gap, GapKind
from orgflow_ir.model import Model
from orgflow_ir.model.bindings import AnyBinding, Parameter
from orgflow_ir.model.codec import to_data
from orgflow_ir.pipeline import PassContext
from orgflow_ir.pipeline.agent_services import ModelClient
from orgflow_ir.pipeline.operation_catalogue import Catalogue, Operation
from orgflow_ir.pipeline.services import required
from orgflow_ir.plugins.agents import Answer, GapAgent, Refusal

T = TypeVar("T")

TRIES = 2
"""Number of attempts at each step; the second one includes the faults of the first answer."""


class OperationFiller(GapAgent):
    """Fills tasks with the language model of the context."""

    name = "operations"
    summary = "operations of the target for open tasks, chosen and filled in by a language model"
    rules: ClassVar[tuple[type[Rule], ...]] = (LeftOutParameter, UnfilledTask)
    kinds: ClassVar[frozenset[GapKind] | None] = frozenset(("task", "message"))

    def answer(
        self, gap: Gap, model: Model, ctx: PassContext, refused: tuple[Refusal, ...]
    ) -> Answer | None:
        """A binding as JSON; `None` if no operation performs the task. At most six questions."""
        client = required(ctx.services.model, "language model")
        catalogue = required(ctx.services.catalogue, "catalogue of a target")
        failed = feedback_about(ctx, gap.element.id) if gap.element is not None else ()
        context = task_context(gap, model, failed)
        if context is None or not context.label:
            return None
        try:
            operation = choose_operation(context, catalogue, client, ctx)
        except Unusable as error:
            ctx.emit(
                UnfilledTask,
                f"`{context.label}` stays open: the answer of the language model is not usable: "
                f"{visible_text(str(error))}",
                element=gap.element, help="bind the task, or use a more capable language model",
            )  # fmt: skip
            return None
        if operation is None:
            known = find_candidates(context, catalogue)
            why = (
                f"the language model chose none of {len(known)} operations"
                if known
                else f"no operation of {catalogue.name} matches its label"
            )
            ctx.emit(
                UnfilledTask, f"`{context.label}` stays open: {why}",
                element=gap.element, severity=Severity.INFO,
            )  # fmt: skip
            return None
        try:
            arranged = arrange_variables(context, operation, catalogue, client, ctx)
        except Unusable as error:
            arranged = Arrangement()
            ctx.emit(
                LeftOutParameter,
                f"all variables of `{context.label}` were omitted: {visible_text(str(error))}",
                element=gap.element,
            )  # fmt: skip
        values, inputs = give_parameters(context, operation, arranged, catalogue, client, ctx, gap)
        return Answer(as_json(catalogue.binding(operation, values, inputs, arranged.outputs)))


def choose_operation(
    context: TaskContext, catalogue: Catalogue, client: ModelClient, ctx: PassContext
) -> Operation | None:
    """The first step. `None` where nothing fits. Raises `Unusable` if no answer can be used."""
    candidates = find_candidates(context, catalogue)
    if not candidates:
        return None
    return _ask_until_usable(
        lambda fault: choose_prompt(context, candidates, fault),
        choose_schema(candidates),
        lambda answer: read_choice(answer, candidates),
        client,
        ctx,
    )


def arrange_variables(
    context: TaskContext,
    operation: Operation,
    catalogue: Catalogue,
    client: ModelClient,
    ctx: PassContext,
) -> Arrangement:
    """The second step. Raises `Unusable` if no answer can be used."""
    if not context.variables and not context.wanted:
        return Arrangement()
    return _ask_until_usable(
        lambda fault: arrange_prompt(context, operation, catalogue, fault),
        SCHEMA,
        lambda answer: read_arrangement(answer, context),
        client,
        ctx,
    )


def give_parameters(
    context: TaskContext,
    operation: Operation,
    arranged: Arrangement,
    catalogue: Catalogue,
    client: ModelClient,
    ctx: PassContext,
    gap: Gap,
) -> tuple[dict[str, Any], tuple[Parameter, ...]]:
    """The third step: constants that conform to the schema, and the inputs that become visible with
    them. Values that are still faulty after the last attempt are omitted and reported."""
    given: dict[str, Any] = {}
    fault = ""
    unusable = False
    for _ in range(TRIES):
        schema = answer_schema(operation, given, arranged.inputs, catalogue)
        prompt = parameter_prompt(context, operation, arranged.inputs, fault)
        try:
            given = read_values(_ask_for_json(prompt, schema, client, ctx))
        except Unusable as error:
            fault = visible_text(str(error))
            unusable = True
            continue
        unusable = False
        faults = find_faults(given, operation, arranged.inputs, catalogue, context)
        if not faults:
            break
        fault = visible_text(describe_faults(faults))
    if unusable:  # what an earlier answer gave is kept as far as it can be
        ctx.emit(
            LeftOutParameter, f"parameters of `{context.label}` were omitted: {fault}",
            element=gap.element,
        )  # fmt: skip
    result, inputs = keep_valid(given, operation, arranged.inputs, catalogue, context)
    for omitted in result.left_out:
        path = ".".join(str(part) for part in omitted.path) or "all parameters"
        ctx.emit(
            LeftOutParameter, f"`{path}` of `{context.label}` was omitted: {omitted.reason}",
            element=gap.element,
        )  # fmt: skip
    return result.values, inputs


def _ask_until_usable(
    prompt: Callable[[str], str],
    schema: Mapping[str, Any],
    read: Callable[[Any], T],
    client: ModelClient,
    ctx: PassContext,
) -> T:
    """What an answer says, asked again with what is wrong with the first. Raises `Unusable` where
    no answer can be used."""
    fault = ""
    for tried in range(TRIES):
        try:
            return read(_ask_for_json(prompt(fault), schema, client, ctx))
        except Unusable as error:
            if tried == TRIES - 1:
                raise
            fault = visible_text(str(error))
    raise AssertionError("a step is asked about at least once")


def _ask_for_json(
    prompt: str, schema: Mapping[str, Any], client: ModelClient, ctx: PassContext
) -> Any:
    """The JSON of an answer. Raises `Unusable`, and as `ModelClient.ask` does."""
    ctx.services.cancellation.check()
    messages = [
        {"role": "system", "content": render_prompt("fill_rules")},
        {"role": "user", "content": prompt},
    ]
    try:
        return read_json(client.ask(messages, schema=schema).text).value
    except UnreadableAnswer as error:
        raise Unusable(f"it {error}") from None


def as_json(binding: AnyBinding) -> dict[str, Any]:
    """A binding as the answer to a gap."""
    return to_data(binding, exclude_none=True)
