"""Actions of the nodes of a planned workflow: a record for each kind, with its typed data.

Passes of the plan make the records and read those of earlier passes; `emit/printers.py` has the
node type and the parameters of each. A verifier, a runner or a note that needs to know what a node
is for reads its record, and never the printed parameters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from orgflow_ir.model.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orgflow.backends.n8n.plan.graph import NodeKey, Port
    from orgflow.backends.n8n.plan.task_form import Page, TaskForm
    from orgflow.backends.n8n.plan.work_names import NamedWork

    from orgflow_ir.flow.nets.escalations import CaughtEscalation
    from orgflow_ir.flow.nets.failures import CaughtError
    from orgflow_ir.model import Event, EventDefinition, Task
    from orgflow_ir.model.bindings import AnyBinding
    from orgflow_ir.work.gateway_decisions import Branch, Decision
    from orgflow_ir.work.people import About
    from orgflow_ir.work.tasks import Act, CallMappings, Work


# -- starts ----------------------------------------------------------------------------------------


class ManualStart(NamedTuple):
    """Starts a run manually."""


class CalledStart(NamedTuple):
    """Starts a run when another workflow calls it, and takes all that it is given."""


class FailureStart(NamedTuple):
    """Starts a run when a run of another workflow has failed."""


class WebhookStart(NamedTuple):
    """Starts a run when an address is called.

    Attributes:
        address: the path of the address.
        checked: whether nodes behind it check the call and answer it.
        protected: whether callers have to authenticate.
    """

    address: str
    checked: bool = False
    protected: bool = False


class PageStart(NamedTuple):
    """Starts a run by a page in a browser, which asks for the fields of its form."""

    address: str
    title: str
    form: TaskForm
    protected: bool = False


class ScheduleStart(NamedTuple):
    """Starts runs by a schedule: that of a timer that repeats without end."""

    definition: EventDefinition


class PublicationStart(NamedTuple):
    """Starts a run when the workflow is published: a timer of no length."""

    definition: EventDefinition


# -- work ------------------------------------------------------------------------------------------


class Thrown(NamedTuple):
    """Escalations that a workflow may have thrown by the time that it ends.

    Attributes:
        at: the event or call that throws them.
        events: ids of the events whose escalations these are.
        here: whether the node that returns them is the one that throws them, which n8n does not
            count as executed while it runs.
    """

    at: str
    events: tuple[str, ...]
    here: bool = False


class PassOn(NamedTuple):
    """Passes its items on, for an event or gateway at which a workflow does nothing. `returns`:
    what it returns to the caller of the workflow, if it ends there."""

    returns: tuple[Thrown, ...] = ()


class Placeholder(NamedTuple):
    """Stands where a person puts a node that does the work.

    Attributes:
        decisions: the decisions whose variables that node has to set.
        returns: as in `PassOn`.
    """

    decisions: tuple[Decision, ...] = ()
    returns: tuple[Thrown, ...] = ()


class Program(NamedTuple):
    """Does the whole work of a task or event: its statements, as a program."""

    work: Work


class PrepareWork(NamedTuple):
    """Computes the input of a task: the statements before its work."""

    work: Work


class ConcludeWork(NamedTuple):
    """Computes what a task sets from its output: the statements after its work."""

    work: Work


class HandOver(NamedTuple):
    """Computes what a call hands over."""

    mappings: CallMappings


class TakeBack(NamedTuple):
    """Computes what a call takes back."""

    mappings: CallMappings


class Send(NamedTuple):
    """Does work outside of n8n: a request, a mail, or an operation of the catalogue.

    Attributes:
        act: what it does.
        binding: the implementation in the model, which has the retries.
        sender: the default sender of mails.
        concluded: whether the node behind it reads the answer.
    """

    act: Act
    binding: AnyBinding
    sender: str = ""
    concluded: bool = False


class SendMessage(NamedTuple):
    """Sends a message or signal (`kind`) to a receiver outside of the model.

    Attributes:
        name: of the message or signal.
        act: the request.
        binding: has its address.
    """

    kind: str
    name: str
    act: Act
    binding: AnyBinding


class Call(NamedTuple):
    """Calls a workflow, and waits for its end unless the call is a message; `named` is the work
    that its name stands for, if the model only names it; `keyed` is whether it hands over its
    instance, for the keys of effects; `begins` is the start event of a process of segments that it
    begins."""

    workflow: str
    named: NamedWork | None = None
    waits: bool = True
    keyed: bool = False
    begins: str = ""


# -- waits -----------------------------------------------------------------------------------------


class WaitForTime(NamedTuple):
    """Waits until a time: that of a definition, that which the node before it has `computed`, and
    where neither states one, not at all."""

    definition: EventDefinition | None
    computed: bool = False


class WaitForCall(NamedTuple):
    """Waits until its address is called, whose last part is `address`."""

    address: str
    protected: bool = False


class AskByPage(NamedTuple):
    """Waits until a person has filled in a form."""

    task: Task
    form: TaskForm
    page: Page
    protected: bool = False


class AskByMessage(NamedTuple):
    """Asks a person by a message to fill in a form, and waits for the answer."""

    task: Task
    form: TaskForm
    page: Page


class CountRounds(NamedTuple):
    """Counts the visits of a form, so that the page of an earlier visit answers nothing."""


class AskAgain(NamedTuple):
    """Leads back to a form that was not answered; `counter` is the node that counts its visits."""

    form: TaskForm
    node: str
    counter: str


# -- segments and rows of open work ----------------------------------------------------------------


class OpenedRow(NamedTuple):
    """A row that the end of a segment writes: open work, or a branch that has arrived at a join.

    Attributes:
        kind: of `waiting.rows.Kind`.
        element: the element by which the process continues from it.
        ref: the name of the row among those that are written together, if others refer to it.
        host: the `ref` of the row that this event interrupts.
        attached_to: the `ref` of the row that this event does not interrupt.
        inside: the `ref` of the scope that it is in, of those that are written together.
        hosts_events: whether events are attached to it.
        task: the task of the model that a person does.
        address: the path of the page of the task.
        due: when a timer fires; `None` for at once.
        computed: whether the moment is in a field of the item.
        again: how often a timer that does not interrupt fires; `None` for endlessly.
        repeats: whether the row follows an earlier one of the same timer.
        message: the name of the expected message.
        branch: the branch that arrived.
        needed: the number of branches that the join waits for.
    """

    kind: Literal["task", "timer", "receiver", "gateway", "branch", "scope"]
    element: str
    ref: str = ""
    host: str = ""
    attached_to: str = ""
    inside: str = ""
    hosts_events: bool = False
    task: Task | None = None
    address: str = ""
    due: EventDefinition | None = None
    computed: bool = False
    again: int | None = 1
    repeats: bool = False
    message: str = ""
    branch: str = ""
    needed: int = 0


class ChosenRows(NamedTuple):
    """Rows that are written if a branch of an inclusive gateway is taken, and others if not; the
    branch is taken if no other one is where `branch` is the default."""

    decision: Decision
    branch: Branch
    rows: tuple[AnyRow, ...]
    otherwise: tuple[AnyRow, ...]


AnyRow = OpenedRow | ChosenRows


class CompleteSegment(NamedTuple):
    """Ends a segment: its changes take effect, and the work that is open next is written.

    Attributes:
        rows: what is open next.
        ends: whether the path ends here.
        leaves: the event that ends a scope at once, if any.
        levels: the number of scopes that this event leaves.
        stops: whether a node behind it stops the run with an error.
    """

    rows: tuple[AnyRow, ...] = ()
    ends: bool = False
    leaves: str = ""
    levels: int = 1
    stops: bool = False


class BeginInstance(NamedTuple):
    """Writes the row of a new instance; `start` is the node that starts it."""

    start: NodeKey


class OpenPage(NamedTuple):
    """Starts the segment after a task when its page is sent; `about` is what its row states."""

    task: Task
    form: TaskForm
    page: Page
    address: str
    about: About | None = None
    protected: bool = False


class ClaimTask(NamedTuple):
    """Claims the task whose page was sent, with the answers."""

    form: TaskForm


class CheckAnswers(NamedTuple):
    """Checks whether the answers of a page are valid."""

    form: TaskForm


class RefuseAnswers(NamedTuple):
    """Shows that an answer is not valid; the task stays open."""

    form: TaskForm


class AnswerPage(NamedTuple):
    """Shows whether an answer was accepted."""


class ContinueProcess(NamedTuple):
    """Starts the segment after an event when the support set calls the workflow."""


class BeginsHere(NamedTuple):
    """Leads calls that begin an instance to its start, and others to the claim of a row."""


class SendToProcess(NamedTuple):
    """Sends a message to another process of the model, which is matched by its name and the
    business key; `flow` is the message flow."""

    name: str
    flow: str


class TakeRow(NamedTuple):
    """Claims the row with which the support set calls the workflow."""


class PassTaken(NamedTuple):
    """Passes on claims that succeeded: the one beginning of all segments."""


class ReadVariables(NamedTuple):
    """Makes the variables of the instance the item."""


class ChooseSegment(NamedTuple):
    """Leads to the segment of the event by which a row was claimed: `events` are the events with
    their labels, in the order of outputs."""

    events: tuple[tuple[str, str], ...]

    @property
    def rules(self) -> int:
        """The number of outputs with a condition; one output more has none."""
        return len(self.events)


# -- joins and decisions ---------------------------------------------------------------------------


class Join(NamedTuple):
    """Waits for its inputs; `partial`: for those that are used, of an inclusive join."""

    inputs: int
    partial: bool


class SetDecision(NamedTuple):
    """Stands where a person decides for a gateway that sets its own variable."""

    decision: Decision


class Decide(NamedTuple):
    """Leads to the branches of a gateway.

    Attributes:
        decision: of the gateway.
        branches: those that have their own output, in the order of outputs.
        unset: whether the output before them takes runs whose variables were never set; it leads to
            a stop.
    """

    decision: Decision
    branches: tuple[Branch, ...]
    unset: bool

    @property
    def rules(self) -> int:
        """The number of outputs with a condition; one output more has none."""
        return len(self.branches) + self.unset

    @property
    def first(self) -> int:
        """The output of the first branch."""
        return int(self.unset)


class DecideAny(NamedTuple):
    """Decides whether any branch of an inclusive gateway is taken; each has a `DecideBranch`."""

    decision: Decision
    unset: bool

    @property
    def rules(self) -> int:
        """The number of outputs with a condition; one output more has none."""
        return 1 + self.unset


class DecideBranch(NamedTuple):
    """Decides whether one branch of an inclusive gateway is taken."""

    decision: Decision
    branch: Branch


# -- failures and escalations ----------------------------------------------------------------------


class KeepError(NamedTuple):
    """Is where the error of a task is caught by an event: keeps the error.

    Attributes:
        event: the event.
        variables: whether it keeps the variables that the failed item has under its message.
        given: whether the failed item has the inputs of a call, which are variables of the called
            process, and none of its own process.
    """

    event: Event
    variables: bool = False
    given: bool = False


class CatchError(NamedTuple):
    """Leads the error of a task to the event that catches it.

    Attributes:
        host: the task or call that fails.
        caught: the events, one an output; the last one may catch every error of the process.
        rest: the event for all other failures; without one, they stop the run.
    """

    host: str
    caught: tuple[CaughtError, ...]
    rest: CaughtError | None

    @property
    def rules(self) -> int:
        """The number of outputs with a condition; one output more has none."""
        return len(self.caught)


class ReadEscalations(NamedTuple):
    """Leads on from a call by the escalations that the called process threw: an output for each
    boundary event, and one for a call that completed.

    Attributes:
        call: the call.
        events: the boundary events, in the order of outputs.
        several: whether more than one output may be taken.
    """

    call: str
    events: tuple[CaughtEscalation, ...]
    several: bool

    @property
    def completed(self) -> int:
        """The number of the last output."""
        return len(self.events)

    @property
    def rules(self) -> int:
        """The number of outputs with a condition."""
        return len(self.events) + self.several


class ReturnThrown(NamedTuple):
    """Returns to the caller the escalations that the workflow has thrown."""

    thrown: tuple[Thrown, ...]


# -- stops -----------------------------------------------------------------------------------------


class Stop(NamedTuple):
    """Stops the run with an error that the model has, at an end event."""

    message: str


class StopBefore(NamedTuple):
    """Stops the run before an element that n8n does not support."""

    message: str


class StopUnmatched(NamedTuple):
    """Stops the run where no branch of a gateway matches, or a variable was never set."""

    decision: Decision


class StopUncaught(NamedTuple):
    """Stops the run with an error of a task that no event of the model catches."""

    host: str


# -- variables -------------------------------------------------------------------------------------


class KeepInput(NamedTuple):
    """Makes the data that a webhook received the item."""

    names: tuple[str, ...]


class KeepVariables(NamedTuple):
    """Keeps variables after a step: a field of its output is the new value, otherwise the value
    stays.

    Attributes:
        step: the node of the step.
        names: the variables.
        source: the output that led to the step, with the values before it.
        counted: whether the item counts how often each was set.
    """

    step: NodeKey
    names: tuple[str, ...]
    source: Port | None
    counted: bool


class KeepAnswers(NamedTuple):
    """Sets variables from the answers of a form; see `KeepVariables`."""

    step: NodeKey
    names: tuple[str, ...]
    form: TaskForm
    source: Port | None
    counted: bool


class KeepJoined(NamedTuple):
    """Keeps variables after a join, each as set by its branch.

    Attributes:
        gateway: the join.
        names: the variables.
        sources: the outputs at the ends of the branches.
    """

    gateway: str
    names: tuple[str, ...]
    sources: tuple[Port, ...]


class KeepLatest(NamedTuple):
    """Reads variables, before a node that needs them, from the parallel branch that set them last.

    Attributes:
        reader: the node that needs them.
        setters: the steps that may set each variable.
    """

    reader: str
    setters: tuple[tuple[str, tuple[NodeKey, ...]], ...]


# -- the call of a process -------------------------------------------------------------------------

FieldType = Literal["number", "boolean", "object", "list", "any"]


class PayloadField(NamedTuple):
    """A field of the start data of a process.

    Attributes:
        name: the variable.
        type: the type that its readers expect.
        required: whether every run reads it and only the start sets it.
        values: the only ones for which a gateway has a branch; empty if others are harmless.
    """

    name: str
    type: FieldType = "any"
    required: bool = True
    values: tuple[str, ...] = ()


class CheckCall(NamedTuple):
    """Checks whether a call has the required data."""

    fields: tuple[PayloadField, ...]


class AcceptCall(NamedTuple):
    """Answers a call that has them."""


class RefuseCall(NamedTuple):
    """Answers a call that lacks some, with the reasons."""

    fields: tuple[PayloadField, ...]


class FailurePlace(NamedTuple):
    """A node of a workflow, for reports of failures.

    Attributes:
        node: its name.
        step: the label of its element.
        performer: who does that.
        ends: whether the model itself ends there with an error.
    """

    node: str
    step: str
    performer: str
    ends: bool


class DescribeFailure(NamedTuple):
    """Describes the failure of a run in the terms of the model: the nodes of each workflow, by the
    title of the workflow."""

    workflows: tuple[tuple[str, tuple[FailurePlace, ...]], ...]


# -- all of them -----------------------------------------------------------------------------------

Action = (
    ManualStart | CalledStart | FailureStart | WebhookStart | PageStart | ScheduleStart
    | PublicationStart | PassOn | Placeholder | Program | PrepareWork | ConcludeWork | HandOver
    | TakeBack | Send | SendMessage | Call | WaitForTime | WaitForCall | AskByPage | AskByMessage
    | CountRounds | AskAgain | Join | SetDecision | Decide | DecideAny | DecideBranch | KeepError
    | CatchError | ReadEscalations | ReturnThrown | Stop | StopBefore | StopUnmatched | StopUncaught
    | KeepInput | KeepVariables | KeepAnswers | KeepJoined | KeepLatest | CheckCall | AcceptCall
    | RefuseCall | DescribeFailure | CompleteSegment | BeginInstance | OpenPage | ClaimTask
    | AnswerPage | ContinueProcess | TakeRow | PassTaken | ReadVariables | ChooseSegment
    | BeginsHere | SendToProcess | CheckAnswers | RefuseAnswers
)  # fmt: skip
"""The action of a node."""

CALLED_FROM_OUTSIDE = (WebhookStart, PageStart, WaitForTime, WaitForCall, AskByPage, OpenPage)
"""Actions of nodes with an address: n8n gives each its own id."""

WAITS = (WaitForTime, WaitForCall, AskByPage)
"""Actions of nodes that wait by themselves, unlike those that send a message and wait."""

KEEPS = (KeepInput, KeepVariables, KeepAnswers, KeepLatest)
"""Actions that keep variables by setting fields of the item."""

OF_SEGMENTS = (
    CompleteSegment, BeginInstance, OpenPage, ClaimTask, AnswerPage, ContinueProcess, TakeRow,
    PassTaken, ReadVariables, ChooseSegment, BeginsHere,
    CheckAnswers, RefuseAnswers,
)  # fmt: skip
"""Actions of the nodes between the segments of a process that waits in several places."""

COMPUTES = (Program, PrepareWork, ConcludeWork, HandOver, TakeBack, DescribeFailure)
"""Actions that compute what the model defines."""

DECIDES = (Decide, DecideAny, DecideBranch)
"""Actions that decide which branches of a gateway are taken."""

REPLACED = (PassOn, Placeholder, SetDecision)
"""Actions of nodes in whose place a person may put another one that does the work."""

STOPS = (Stop, StopBefore, StopUnmatched, StopUncaught)
"""Actions that end a run with an error."""


def count_output_ports(action: Action, *, fails_over: bool) -> int:
    """The number of output ports of a node; `fails_over`: it has one for errors. A node that
    decides has one more than it has conditions, also if nothing can leave there."""
    match action:
        case Decide() | DecideAny() | CatchError() | ReadEscalations() | ChooseSegment():
            return action.rules + 1
        case DecideBranch() | AskAgain() | CheckCall() | BeginsHere() | CheckAnswers():
            return 2
        case _:
            return 2 if fails_over else 1


def renumber_ports(action: Action, moved: dict[Port, Port]) -> Action:
    """An action that reads the outputs of other nodes, after some of these got other numbers."""
    match action:
        case KeepVariables() | KeepAnswers():
            return action._replace(source=moved.get(action.source, action.source))  # type: ignore[arg-type]
        case KeepJoined():
            sources: Iterable[Port] = (moved.get(port, port) for port in action.sources)
            return action._replace(sources=tuple(sources))
        case _:
            return action
