"""Rules of the BPMN specification about content apart from the flow: references, data, expressions,
contradictory attributes. OF162 to OF169 and OF192 to OF199."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class WrongReference(Rule):
    """
    What it finds
        A reference to an element of the wrong type: a `messageRef` to a signal, an `errorRef` to a
        message, a `processRef` to a task.
    Why it is wrong
        It has no effect, or tools reject the file (BPMN 2.0.2, class diagrams of each element);
        usually an id was copied from the wrong place.
    Example
        <messageEventDefinition messageRef="Signal_1"/>
    Instead
        <messageEventDefinition messageRef="Message_1"/>
    """

    code = "OF162"
    name = "wrong-reference"
    severity = Severity.WARNING
    category = Category.MALFORMED


class MissingPart(Rule):
    """
    What it finds
        A missing attribute or element that BPMN requires. (Ends of flows are OF101 and OF117, the
        activity of a boundary event is OF153.)
    Why it is wrong
        The file does not follow the schema of BPMN 2.0.2 (chapters 8 to 11): tools that validate it
        reject the file, others guess.
    Example
        <operation id="o" name="Rate"/> without an `inMessageRef`
    Instead
        <operation id="o" name="Rate"><inMessageRef>Request</inMessageRef></operation>
    """

    code = "OF163"
    name = "missing-part"
    severity = Severity.WARNING
    category = Category.MALFORMED


class DataSets(Rule):
    """
    What it finds
        A data input in no input set or a data output in no output set; an optional input, or one
        that is read while the activity runs, that its set does not list; sets that reference each
        other in only one direction.
    Why it is wrong
        An activity begins with the data of one input set and ends with that of one output set (BPMN
        2.0.2, 10.4.1); other data is never used.
    Example
        <ioSpecification><dataInput id="i"/><inputSet id="s"/>…
    Instead
        <inputSet id="s"><dataInputRefs>i</dataInputRefs></inputSet>
    """

    code = "OF164"
    name = "data-sets"
    severity = Severity.INFO
    category = Category.MALFORMED


class DataTypeMismatch(Rule):
    """
    What it finds
        Data of one type where another type is required: at the ends of a data association, between
        a message and the task or event that sends or receives it, an operation and its service
        task, a list and its item, or a call and the called element; or an `isCollection` that
        differs from the type's.
    Why it is wrong
        The data cannot be passed on unchanged (BPMN 2.0.2, 10.3.3, 10.3.6, 10.3.8, 10.4.2, 10.5.1);
        engines that check types reject the process.
    Example
        A data association from `Order` of the type tOrder to an input of the type tInvoice.
    Instead
        Use the same type, or add a transformation to the association.
    """

    code = "OF165"
    name = "data-type-mismatch"
    severity = Severity.INFO
    category = Category.MALFORMED


class SurplusData(Rule):
    """
    What it finds
        More data inputs, outputs or sets than the element can use: a task for one message or
        operation, an event for its triggers, several sources of a data association without a
        transformation; or too few of them.
    Why it is wrong
        It is undefined which of them is used (BPMN 2.0.2, 10.3.3, 10.4.2 and 10.5.1).
    Example
        A send task for the message `Offer` with two data inputs.
    Instead
        Use one data input with the type of the message.
    """

    code = "OF166"
    name = "surplus-data"
    severity = Severity.INFO
    category = Category.MALFORMED


class SubProcessData(Rule):
    """
    What it finds
        An `ioSpecification` in a sub-process.
    Why it is wrong
        Only processes, and activities that are not sub-processes, have data inputs and outputs
        (BPMN 2.0.2, 10.4.1); a sub-process uses the data of its parent.
    Example
        <subProcess id="s"><ioSpecification>…
    Instead
        Move the inputs and outputs to the activities inside.
    """

    code = "OF167"
    name = "sub-process-data"
    severity = Severity.INFO
    category = Category.MALFORMED


class InformalExpression(Rule):
    """
    What it finds
        A condition, a time, a number of instances … in an executable process that is not marked as
        a formal expression.
    Why it is wrong
        Without the mark, an expression is natural language (BPMN 2.0.2, 8.4.6), which engines do
        not evaluate; some treat it as formal nevertheless.
    Example
        <conditionExpression>amount &gt; 1000</conditionExpression>
    Instead
        <conditionExpression xsi:type="tFormalExpression">amount &gt; 1000</conditionExpression>
    """

    code = "OF168"
    name = "informal-expression"
    severity = Severity.INFO
    category = Category.STYLE
    optional = True


class EmptyExpression(Rule):
    """
    What it finds
        A formal expression without any text.
    Why it is wrong
        A formal expression has a body (BPMN 2.0.2, 8.4.6); without one, the condition or time is
        undefined.
    Example
        <conditionExpression xsi:type="tFormalExpression"/>
    Instead
        <conditionExpression xsi:type="tFormalExpression">amount &gt; 1000</conditionExpression>
    """

    code = "OF169"
    name = "empty-expression"
    severity = Severity.INFO
    category = Category.STYLE
    optional = True


class MissingForEngine(Rule):
    """
    What it finds
        An event, a task or a loop in an executable process that lacks a part required for
        execution: the message and operation of a message event, the code of a thrown escalation,
        the format of a script, the number or list of a multi-instance activity and its data input.
    Why it is wrong
        An engine that follows the specification rejects the process (BPMN 2.0.2, 8.4.4, 10.3.3,
        10.3.8, 10.5.5); most engines use their own attributes instead.
    Example
        <messageEventDefinition/> in a process with isExecutable="true"
    Instead
        <messageEventDefinition messageRef="Order"><operationRef>receive</operationRef>…
    """

    code = "OF192"
    name = "missing-for-engine"
    severity = Severity.INFO
    category = Category.STYLE
    optional = True


class Contradiction(Rule):
    """
    What it finds
        Attributes that contradict each other: a public process that is executable, a flow that is
        not immediate in an executable process, a collaboration that is closed and whose
        choreography is not.
    Why it is wrong
        One of the two is wrong (BPMN 2.0.2, 8.4.13, 9.2 and 10.2.1).
    Example
        <process id="p" processType="Public" isExecutable="true">
    Instead
        <process id="p" processType="Private" isExecutable="true">
    """

    code = "OF193"
    name = "contradiction"
    severity = Severity.INFO
    category = Category.MALFORMED


class GatewayDirection(Rule):
    """
    What it finds
        A `gatewayDirection` that the flows of the gateway contradict.
    Why it is wrong
        A converging gateway has one outgoing flow, a diverging gateway one incoming flow, a mixed
        gateway several of both (BPMN 2.0.2, 8.4.9). orgflow uses the flows; the attribute is out of
        date.
    Example
        <parallelGateway id="g" gatewayDirection="Converging"/> with two outgoing flows
    Instead
        <parallelGateway id="g" gatewayDirection="Diverging"/>
    """

    code = "OF194"
    name = "gateway-direction"
    severity = Severity.INFO
    category = Category.MALFORMED


class ChoreographyContent(Rule):
    """
    What it finds
        A choreography or global conversation that references a choreography, or a global
        conversation that contains anything but participants, message flows and correlation keys.
    Why it is wrong
        The specification forbids both (BPMN 2.0.2, 9.2 and 9.5.4).
    Example
        <globalConversation id="g"><conversation id="c"/></globalConversation>
    Instead
        Move the conversation into a collaboration.
    """

    code = "OF195"
    name = "choreography-content"
    severity = Severity.WARNING
    category = Category.MALFORMED


class DataReferenceName(Rule):
    """
    What it finds
        A reference to a data object whose name differs from the name of the object (followed by the
        state in brackets, if it has one).
    Why it is wrong
        The specification names references like this (BPMN 2.0.2, 10.4.1), so readers see which
        references mean the same object.
    Example
        The reference `Paid invoice` to the data object `Invoice` in the state `paid`.
    Instead
        `Invoice [paid]`
    """

    code = "OF196"
    name = "data-reference-name"
    severity = Severity.INFO
    category = Category.STYLE
    optional = True


class MissingFlowList(Rule):
    """
    What it finds
        A sequence flow that its source does not list as `outgoing`, or its target as `incoming`.
        (Lists that name other flows are OF157.)
    Why it is wrong
        The specification requires both lists (BPMN 2.0.2, 8.4.7 and 8.4.13); some tools read only
        one of them.
    Example
        <task id="a"/> and <sequenceFlow id="f" sourceRef="a" targetRef="b"/>
    Instead
        <task id="a"><outgoing>f</outgoing></task>
    """

    code = "OF197"
    name = "missing-flow-list"
    severity = Severity.INFO
    category = Category.STYLE
    optional = True


class LinkEnds(Rule):
    """
    What it finds
        A link event definition without the `target` or `source` elements that pair it with others,
        or whose counterpart does not name it.
    Why it is wrong
        The specification also pairs links by these elements (BPMN 2.0.2, 10.5.5); nearly all tools,
        including orgflow, pair them by name.
    Example
        <linkEventDefinition id="l" name="A"/>
    Instead
        <linkEventDefinition id="l" name="A"><target>m</target></linkEventDefinition>
    """

    code = "OF198"
    name = "link-ends"
    severity = Severity.INFO
    category = Category.STYLE
    optional = True


class ImportNotRead(Rule):
    """
    What it finds
        An import of another file. orgflow reads one file at a time.
    Why it is wrong
        This may be intended (BPMN 2.0.2, 8.2.2). The definitions of the other file are unknown, and
        orgflow does not check whether it exists or has unique ids.
    Example
        <import importType="http://www.omg.org/spec/BPMN/20100524/MODEL" location="common.bpmn" …/>
    Instead
        No action is needed, or copy the required definitions into this file.
    """

    code = "OF199"
    name = "import-not-read"
    severity = Severity.INFO
    category = Category.STYLE
    optional = True


SPECIFICATION_RULES: tuple[type[Rule], ...] = (
    WrongReference,
    MissingPart,
    DataSets,
    DataTypeMismatch,
    SurplusData,
    SubProcessData,
    InformalExpression,
    EmptyExpression,
    MissingForEngine,
    Contradiction,
    GatewayDirection,
    ChoreographyContent,
    DataReferenceName,
    MissingFlowList,
    LinkEnds,
    ImportNotRead,
)
