"""Rules about BPMN files that can be read but are not as they should be: OF150 to OF160."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class DuplicateId(Rule):
    """
    What it finds
        Two elements with the same id.
    Why it is wrong
        A flow that names the id could mean either. References are taken to mean the first; the
        second gets the id with `__2` behind it. Where nothing names the id, nothing is unclear, and
        this is a warning.
    Example
        <task id="a" name="Pick"/> <task id="a" name="Pack"/>
    Instead
        <task id="a" name="Pick"/> <task id="b" name="Pack"/>
    """

    code = "OF150"
    name = "duplicate-id"
    severity = Severity.ERROR
    category = Category.MALFORMED


class MissingId(Rule):
    """
    What it finds
        A step, event, gateway, process or pool without an id; it is given one made of its tag and a
        number.
        (Flows, lanes and the like get one, too; that is not reported, since little refers to them.)
    Why it is wrong
        BPMN allows it, but nothing can refer to the element: no flow can lead there.
    Example
        <task name="Pick"/>
    Instead
        <task id="Pick" name="Pick"/>
    """

    code = "OF151"
    name = "missing-id"
    severity = Severity.WARNING
    category = Category.MALFORMED


class UnknownReference(Rule):
    """
    What it finds
        An id that is referred to and that no element of the file has: of a lane's member, a
        message, a pool's process, a default flow … (Ends of sequence flows are OF101.)
    Why it is wrong
        What was meant is lost (BPMN 2.0.2, chapters 8 to 10, for each reference); mostly the
        element was deleted or renamed by hand.
    Example
        <lane id="l"><flowNodeRef>Task_7</flowNodeRef></lane> without a Task_7
    Instead
        Name an element that exists, or remove the reference.
    """

    code = "OF152"
    name = "unknown-reference"
    severity = Severity.WARNING
    category = Category.MALFORMED


class DetachedBoundaryEvent(Rule):
    """
    What it finds
        A boundary event that is attached to nothing, or to what is not an activity beside it.
    Why it is wrong
        It can never happen: a boundary event happens while its activity runs (BPMN 2.0.2, 10.5.4).
    Example
        <boundaryEvent id="late"><timerEventDefinition/></boundaryEvent>
    Instead
        <boundaryEvent id="late" attachedToRef="Approve">…
    """

    code = "OF153"
    name = "detached-boundary-event"
    severity = Severity.ERROR
    category = Category.MALFORMED


class InvalidValue(Rule):
    """
    What it finds
        An attribute or element whose value is not of its kind, or not in its range; the default is
        used instead.
    Why it is wrong
        The file does not say what it should (BPMN 2.0.2, the tables of each element); the default
        may not be what was meant.
    Example
        <startEvent id="s" isInterrupting="maybe"/>
    Instead
        <startEvent id="s" isInterrupting="false"/>
    """

    code = "OF154"
    name = "invalid-value"
    severity = Severity.WARNING
    category = Category.MALFORMED


class MisplacedElement(Rule):
    """
    What it finds
        A BPMN element in a place where BPMN does not have it.
    Why it is wrong
        It means nothing there. A process is read all the same, a flow node outside of processes
        cannot be compiled, anything else is kept and has no effect.
    Example
        <task id="a"><timerEventDefinition/></task>
    Instead
        A boundary event with the timer on the task.
    """

    code = "OF155"
    name = "misplaced-element"
    severity = Severity.WARNING
    category = Category.MALFORMED


class DisagreeingFlowLists(Rule):
    """
    What it finds
        A node whose `incoming` and `outgoing` are not the sequence flows that end and begin at it.
    Why it is wrong
        The file says one thing twice, differently; the sequence flows are believed.
    Example
        <task id="a"><outgoing>f2</outgoing></task> <sequenceFlow id="f1" sourceRef="a" …/>
    Instead
        <task id="a"><outgoing>f1</outgoing></task>
    """

    code = "OF157"
    name = "disagreeing-flow-lists"
    severity = Severity.INFO
    category = Category.MALFORMED


class UnknownElement(Rule):
    """
    What it finds
        An element, in a place for BPMN elements, that BPMN 2.0 does not have.
    Why it is wrong
        What it does is not known (BPMN 2.0.2, 10.2 for what a process has). A flow node of another
        vendor keeps its flows and is refused by every target; something no flow touches is kept and
        has no effect.
    Example
        <process id="p"><acme:robotTask id="r"/>…
    Instead
        A BPMN task with the vendor's data in its `extensionElements`.
    """

    code = "OF158"
    name = "unknown-element"
    severity = Severity.WARNING
    category = Category.MALFORMED


class UnknownAttribute(Rule):
    """
    What it finds
        An attribute that BPMN 2.0 does not have for this element; it is kept and has no effect.
    Why it is wrong
        It may be a misspelt one.
    Example
        <process id="p" isExecuteable="true"/>
    Instead
        <process id="p" isExecutable="true"/>
    """

    code = "OF159"
    name = "unknown-attribute"
    severity = Severity.INFO
    category = Category.MALFORMED


class UnmodelledBehaviour(Rule):
    """
    What it finds
        Something that is kept but whose effect is not carried out: events that a multi-instance
        activity throws as its instances complete, an extension that must be understood.
    Why it is wrong
        The compiled process leaves this effect out.
    Example
        <multiInstanceLoopCharacteristics behavior="One" oneBehaviorEventRef="first"/>
    Instead
        Draw the effect: an event after the activity, a completion condition.
    """

    code = "OF160"
    name = "unmodelled-behaviour"
    severity = Severity.WARNING
    category = Category.MALFORMED


class StrayText(Rule):
    """
    What it finds
        Text between elements where BPMN has none; it is ignored.
    Why it is wrong
        It is probably a piece of a tag or of a documentation that was cut off.
    Example
        <process id="p"> invoice <task id="a"/></process>
    Instead
        <process id="p"><documentation>invoice</documentation><task id="a"/></process>
    """

    code = "OF161"
    name = "stray-text"
    severity = Severity.WARNING
    category = Category.MALFORMED


READING_RULES: tuple[type[Rule], ...] = (
    DuplicateId,
    MissingId,
    UnknownReference,
    DetachedBoundaryEvent,
    InvalidValue,
    MisplacedElement,
    DisagreeingFlowLists,
    UnknownElement,
    UnknownAttribute,
    UnmodelledBehaviour,
    StrayText,
)
