"""Error boundary events of tasks and calls: error outputs of nodes, and the target of each
error."""

from __future__ import annotations

from orgflow.backends.n8n.plan.actions import CatchError, HandOver, KeepError, StopUncaught
from orgflow.backends.n8n.plan.graph import HelperKey, PlanNode, Port, Role
from orgflow.backends.n8n.plan.scope_plan import ScopePlan

from orgflow_ir.flow.nets.failures import CaughtError, caught_errors
from orgflow_ir.model.element_names import join_listed
from orgflow_ir.work.statements import Statement, assigned, ends_with_error, throws

THROWN = "BpmnError"
"""The possible prefix of an error message whose code is not in the model."""

RETRIES, BOUNDARY = "retries", "boundary"
"""The option for failures that remain after all retries, and its value for routing them to the
error event without a code; otherwise they stop the run for engines that raise an incident."""


def caught_in(plan: ScopePlan) -> dict[str, tuple[CaughtError, ...]]:
    """The error boundary events of each task of a scope according to the options of the target."""
    caught_by = caught_errors(plan.scope.body, plan.scope.model)
    if plan.ctx.options.get(RETRIES) != BOUNDARY:
        return caught_by
    return {
        host: tuple(error._replace(thrown=False) for error in caught)
        for host, caught in caught_by.items()
    }


def hands_variables(host: str, plan: ScopePlan) -> bool:
    """Whether the code of a task outputs variables with the errors that events on it catch: those
    that the code has set before it throws."""
    work = plan.work.get(host)
    if work is None or not ends_with_error(work.statements):
        return False
    return any(True for _ in assigned(work.statements)) and host in caught_in(plan)


def plan_failures(plan: ScopePlan) -> None:
    """Route the error outputs of tasks to their boundary events, by the codes of errors; an
    uncaught error stops the run."""
    for host, caught in caught_in(plan).items():
        _plan_error_output(host, caught, plan)


def _plan_error_output(host: str, caught: tuple[CaughtError, ...], plan: ScopePlan) -> None:
    graph = plan.workflow_graph
    node = graph.nodes[host]
    node.fails_over = True
    if hands_variables(host, plan):
        for error in caught:
            keep = graph.nodes[error.event].action
            assert isinstance(keep, KeepError)
            graph.nodes[error.event].action = keep._replace(variables=True)
    prepared = graph.nodes.get(HelperKey(host, "inputs"))
    if prepared is not None and isinstance(prepared.action, HandOver):
        for error in caught:
            keep = graph.nodes[error.event].action
            assert isinstance(keep, KeepError)
            graph.nodes[error.event].action = keep._replace(given=True)
    rest = next((error for error in caught if error.code is None), None)
    thrown = rest is not None and rest.thrown
    node.notes.append(_describe_error_output(caught, thrown, plan))
    # Code of listeners, and what is made of an answer, may throw an error of the task as well.
    ports = [Port(host, 1), *(Port(key, 1) for key in _list_throwing(host, plan))]
    coded = tuple(error for error in caught if error.code is not None)
    if not coded and not thrown:
        assert rest is not None
        for port in ports:
            graph.connect(port, Port(rest.event))
        return
    if rest is not None and thrown:
        coded, rest = (*coded, rest), None
    key = HelperKey(host, "caught")
    action = CatchError(host, coded, rest)
    catching = graph.add(key, f"Error of {node.name}?", action, element=host, role="caught")
    catching.notes.append(f"Selects the event that catches the error of “{node.name}”.")
    for port in ports:
        graph.connect(port, Port(key))
    for output, error in enumerate(coded):
        graph.connect(Port(key, output), Port(error.event))
    if rest is not None:
        graph.connect(Port(key, len(coded)), Port(rest.event))
        return
    stop = HelperKey(host, "stop")
    name = f"Stop: error of {node.name}"
    graph.add(stop, name, StopUncaught(host), element=host, role="stop")
    graph.connect(Port(key, len(coded)), Port(stop))


def _describe_error_output(caught: tuple[CaughtError, ...], thrown: bool, plan: ScopePlan) -> str:
    nodes = plan.workflow_graph.nodes
    names = join_listed([f"“{nodes[error.event].name}”" for error in caught])
    return (
        f"On Error is set to “Continue (using error output)”: if this node fails, {names} "
        "occurs. An error is recognised by its message, which begins with the code of the "
        "error"
        + (
            f", or with “{THROWN}”: any other failure stops the run, even when its retries "
            "are exhausted "
            f"(the option {RETRIES}={BOUNDARY} leads it to the event). "
            if thrown
            else ". "
        )
        + "Keep this setting if you replace the node."
    )


def _list_throwing(host: str, plan: ScopePlan) -> list[HelperKey]:
    """The nodes around that of a task that may throw an error; they get error outputs."""
    work = plan.work.get(host)
    if work is None:
        return []
    graph = plan.workflow_graph
    sides: tuple[tuple[Role, tuple[Statement, ...]], ...] = (
        ("inputs", work.before), ("outputs", work.after),
    )  # fmt: skip
    keys = []
    for role, statements in sides:
        node: PlanNode | None = graph.nodes.get(HelperKey(host, role))
        if node is not None and throws(statements):
            node.fails_over = True
            keys.append(HelperKey(host, role))
    return keys
