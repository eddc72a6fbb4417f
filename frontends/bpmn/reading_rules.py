"""Rules about readable but irregular BPMN files: OF147, OF150 to OF161."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class DuplicateId(Rule):
    """
    What it finds
        Two elements with the same id.
    Why it is wrong
        A flow that references the id is ambiguous: ids are unique in a whole file (BPMN 2.0.2,
        8.2.1). References resolve to the first element; the second one is read with the suffix
        `__2`. If nothing references the id, the severity is warning. It is a warning as well if
        the elements are in different processes and all references are inside these: a reference
        then means the element of its own process. Shapes and edges of the diagram with such an id
        are ignored.
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
        A step, event, gateway, process or pool without an id; it is read with an id generated from
        its tag and a number. (Flows, lanes and similar elements also get one; this is not reported,
        since they are rarely referenced.)
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
        A reference to an id that no element of the file has: a member of a lane, a message, the
        process of a pool, a default flow … (Ends of sequence flows are OF101.)
    Why it is wrong
        The intended element is unknown (BPMN 2.0.2, chapters 8 to 10, for each reference); usually
        it was deleted or renamed manually.
    Example
        <lane id="l"><flowNodeRef>Task_7</flowNodeRef></lane> without a Task_7
    Instead
        Reference an existing element, or remove the reference.
    """

    code = "OF152"
    name = "unknown-reference"
    severity = Severity.WARNING
    category = Category.MALFORMED


class DetachedBoundaryEvent(Rule):
    """
    What it finds
        A boundary event that is attached to nothing, or to something that is not an activity in the
        same scope.
    Why it is wrong
        It can never occur: a boundary event occurs while its activity runs (BPMN 2.0.2, 10.5.4).
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
        An attribute or element whose value has the wrong type or is out of range; the default is
        used instead.
    Why it is wrong
        The value is not valid (BPMN 2.0.2, the tables of each element), and the default may not be
        the intended value.
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
        A BPMN element in a place where BPMN does not allow it.
    Why it is wrong
        The element has no meaning there. A process is read nevertheless, a flow node outside of
        processes cannot be compiled, and any other element is kept without effect.
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
        A node whose `incoming` and `outgoing` elements do not match its sequence flows.
    Why it is wrong
        The two parts of the file contradict each other; orgflow uses the sequence flows.
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
        An element that BPMN 2.0 does not define, in a place for BPMN elements.
    Why it is wrong
        Its meaning is unknown (BPMN 2.0.2, 10.2, lists the contents of a process). A vendor's flow
        node keeps its flows but is not supported for any target; an element without flows is kept
        without effect.
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
        An attribute that BPMN 2.0 does not define for this element; it is kept without effect.
    Why it is wrong
        It may be misspelt.
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
        An element that is kept but has no effect: events that a multi-instance activity throws as
        its instances complete, an extension that must be understood.
    Why it is wrong
        The compiled process lacks this effect.
    Example
        <multiInstanceLoopCharacteristics behavior="One" oneBehaviorEventRef="first"/>
    Instead
        Model the effect explicitly: an event after the activity, a completion condition.
    """

    code = "OF160"
    name = "unmodelled-behaviour"
    severity = Severity.WARNING
    category = Category.MALFORMED


class AmbiguousForm(Rule):
    """
    What it finds
        A form that a task or a start event names and that several files define differently. Forms
        are searched next to the model, then in folders `forms` and the resources of its project,
        then in the files and folders of the command; it finds several at one of these places.
    Why it is wrong
        Which of them the engine deploys is unknown. No fields are read: the fields of the task are
        inferred from what later steps read.
    Example
        formId="approve", and forms/old/approve.form and forms/approve.form have this id
    Instead
        Keep one of them, or put it next to the model.
    """

    code = "OF147"
    name = "ambiguous-form"
    severity = Severity.WARNING
    category = Category.MALFORMED


class StrayText(Rule):
    """
    What it finds
        Text between elements where BPMN allows none; it is ignored.
    Why it is wrong
        It is probably the remainder of a truncated tag or documentation.
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
    AmbiguousForm,
    StrayText,
)
