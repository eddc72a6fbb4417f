"""The treatment of every type, attribute and element of the BPMN 2.0 XML schemas.

A test compares the schemas with these tables. Member names are those of the schema: `@name` is an
attribute, `name` a child element; inherited members are listed with the base.
"""

from __future__ import annotations

from enum import StrEnum
from functools import cache

from orgflow_ir.model.records import NamedTuple


class Disposition(StrEnum):
    """The treatment of a BPMN construct."""

    MODELLED = "modelled"
    """A field of the IR holds it."""
    KEPT = "kept"
    """It stays verbatim in `extra`."""
    HARMLESS = "opaque, harmless"
    """It stays verbatim in an `Opaque` without control flow."""
    ILLEGAL = "opaque, illegal"
    """It stays verbatim in an `Opaque` that no target supports."""


class Type(NamedTuple):
    """A complex type of the schema: its base and its own members by treatment."""

    base: str | None
    members: dict[str, Disposition]


def type_of(
    base: str | None = "tBaseElement",
    modelled: str = "",
    kept: str = "",
    harmless: str = "",
    illegal: str = "",
) -> Type:
    """A type from its base and the names of its members, separated by white space."""
    members: dict[str, Disposition] = {}
    for names, disposition in (
        (modelled, Disposition.MODELLED),
        (kept, Disposition.KEPT),
        (harmless, Disposition.HARMLESS),
        (illegal, Disposition.ILLEGAL),
    ):
        members.update(dict.fromkeys(names.split(), disposition))
    return Type(base, members)


_EXPRESSION = "tBaseElementWithMixedContent"
_ROOT = "tRootElement"
_EVENT = "tEventDefinition"

TYPES: dict[str, Type] = {
    # foundation (8.1, 8.2)
    "tDefinitions": type_of(
        None,
        "@id @name rootElement BPMNDiagram",
        "@targetNamespace @expressionLanguage @typeLanguage @exporter @exporterVersion import "
        "extension relationship",
    ),
    "tImport": type_of(None, kept="@namespace @location @importType"),
    "tExtension": type_of(None, kept="@definition @mustUnderstand documentation"),
    "tExtensionElements": type_of(None),
    "tRelationship": type_of(kept="@type @direction source target"),
    "tBaseElement": type_of(None, "@id documentation", "extensionElements"),
    "tBaseElementWithMixedContent": type_of(None, kept="@id documentation extensionElements"),
    "tDocumentation": type_of(None, kept="@id @textFormat"),
    "tRootElement": type_of(),
    "tAuditing": type_of(),
    "tMonitoring": type_of(),
    "tRendering": type_of(),
    "tScript": type_of(None),
    "tText": type_of(None),
    # expressions (8.3.6)
    "tExpression": type_of(_EXPRESSION),
    "tFormalExpression": type_of("tExpression", "@language", "@evaluatesToTypeRef"),
    # artifacts (8.3.1)
    "tArtifact": type_of(),
    "tAssociation": type_of("tArtifact", "@sourceRef @targetRef @associationDirection"),
    "tGroup": type_of("tArtifact", kept="@categoryValueRef"),
    "tTextAnnotation": type_of("tArtifact", "text", "@textFormat"),
    "tCategory": type_of(_ROOT, "@name", harmless="categoryValue"),
    "tCategoryValue": type_of(harmless="@value"),
    # correlation (8.3.2)
    "tCorrelationKey": type_of(modelled="@name correlationPropertyRef"),
    "tCorrelationProperty": type_of(
        _ROOT, "@name", harmless="@type correlationPropertyRetrievalExpression"
    ),
    "tCorrelationPropertyBinding": type_of(kept="@correlationPropertyRef dataPath"),
    "tCorrelationPropertyRetrievalExpression": type_of(harmless="@messageRef messagePath"),
    "tCorrelationSubscription": type_of(kept="@correlationKeyRef correlationPropertyBinding"),
    # what events and tasks refer to (8.3.3 to 8.3.12, 8.4.3)
    "tError": type_of(_ROOT, "@name @errorCode @structureRef"),
    "tEscalation": type_of(_ROOT, "@name @escalationCode @structureRef"),
    "tMessage": type_of(_ROOT, "@name @itemRef"),
    "tSignal": type_of(_ROOT, "@name @structureRef"),
    "tItemDefinition": type_of(_ROOT, harmless="@structureRef @isCollection @itemKind"),
    "tInterface": type_of(_ROOT, "@name", harmless="@implementationRef operation"),
    "tOperation": type_of(harmless="@name @implementationRef inMessageRef outMessageRef errorRef"),
    "tEndPoint": type_of(_ROOT),
    "tPartnerEntity": type_of(_ROOT, "@name", harmless="participantRef"),
    "tPartnerRole": type_of(_ROOT, "@name", harmless="participantRef"),
    "tResource": type_of(_ROOT, "@name", harmless="resourceParameter"),
    "tResourceParameter": type_of(harmless="@name @type @isRequired"),
    # collaboration (9)
    "tCollaboration": type_of(
        _ROOT,
        "participant messageFlow artifact correlationKey",
        "@name @isClosed conversationNode conversationAssociation participantAssociation "
        "messageFlowAssociation choreographyRef conversationLink",
    ),
    "tParticipant": type_of(
        modelled="@name @processRef participantMultiplicity", kept="interfaceRef endPointRef"
    ),
    "tParticipantMultiplicity": type_of(modelled="@minimum @maximum"),
    "tParticipantAssociation": type_of(kept="innerParticipantRef outerParticipantRef"),
    "tMessageFlow": type_of(modelled="@name @sourceRef @targetRef @messageRef"),
    "tMessageFlowAssociation": type_of(kept="@innerMessageFlowRef @outerMessageFlowRef"),
    "tConversationNode": type_of(kept="@name participantRef messageFlowRef correlationKey"),
    "tConversation": type_of("tConversationNode"),
    "tSubConversation": type_of("tConversationNode", kept="conversationNode"),
    "tCallConversation": type_of(
        "tConversationNode", kept="@calledCollaborationRef participantAssociation"
    ),
    "tConversationAssociation": type_of(kept="@innerConversationNodeRef @outerConversationNodeRef"),
    "tConversationLink": type_of(kept="@name @sourceRef @targetRef"),
    "tGlobalConversation": type_of("tCollaboration"),
    # choreography (11)
    "tChoreography": type_of("tCollaboration", illegal="flowElement"),
    "tGlobalChoreographyTask": type_of("tChoreography", illegal="@initiatingParticipantRef"),
    "tChoreographyActivity": type_of(
        "tFlowNode", illegal="@initiatingParticipantRef @loopType participantRef correlationKey"
    ),
    "tChoreographyTask": type_of("tChoreographyActivity", illegal="messageFlowRef"),
    "tSubChoreography": type_of("tChoreographyActivity", illegal="flowElement artifact"),
    "tCallChoreography": type_of(
        "tChoreographyActivity", illegal="@calledChoreographyRef participantAssociation"
    ),
    # process (10)
    "tCallableElement": type_of(_ROOT, "@name", "supportedInterfaceRef ioSpecification ioBinding"),
    "tProcess": type_of(
        "tCallableElement",
        "@isExecutable laneSet flowElement artifact",
        "@processType @isClosed @definitionalCollaborationRef auditing monitoring property "
        "resourceRole correlationSubscription supports",
    ),
    "tGlobalTask": type_of("tCallableElement", harmless="resourceRole"),
    "tGlobalBusinessRuleTask": type_of("tGlobalTask", harmless="@implementation"),
    "tGlobalManualTask": type_of("tGlobalTask"),
    "tGlobalScriptTask": type_of("tGlobalTask", harmless="@scriptLanguage script"),
    "tGlobalUserTask": type_of("tGlobalTask", harmless="@implementation rendering"),
    "tLaneSet": type_of(modelled="lane", kept="@name"),
    "tLane": type_of(
        modelled="@name @partitionElementRef flowNodeRef childLaneSet", kept="partitionElement"
    ),
    "tFlowElement": type_of(modelled="@name", kept="auditing monitoring categoryValueRef"),
    "tFlowNode": type_of("tFlowElement", "incoming outgoing"),
    "tSequenceFlow": type_of(
        "tFlowElement", "@sourceRef @targetRef conditionExpression", "@isImmediate"
    ),
    # activities (10.3)
    "tActivity": type_of(
        "tFlowNode",
        "@isForCompensation @default dataInputAssociation dataOutputAssociation "
        "loopCharacteristics",
        "@startQuantity @completionQuantity ioSpecification property resourceRole",
    ),
    "tTask": type_of("tActivity"),
    "tBusinessRuleTask": type_of("tTask", "@implementation"),
    "tManualTask": type_of("tTask"),
    "tReceiveTask": type_of("tTask", "@implementation @instantiate @messageRef @operationRef"),
    "tScriptTask": type_of("tTask", "@scriptFormat script"),
    "tSendTask": type_of("tTask", "@implementation @messageRef @operationRef"),
    "tServiceTask": type_of("tTask", "@implementation @operationRef"),
    "tUserTask": type_of("tTask", "@implementation", "rendering"),
    "tCallActivity": type_of("tActivity", "@calledElement"),
    "tSubProcess": type_of("tActivity", "@triggeredByEvent laneSet flowElement artifact"),
    "tAdHocSubProcess": type_of(
        "tSubProcess", "@cancelRemainingInstances @ordering completionCondition"
    ),
    "tTransaction": type_of("tSubProcess", kept="@method"),
    "tLoopCharacteristics": type_of(),
    "tStandardLoopCharacteristics": type_of(
        "tLoopCharacteristics", "@testBefore @loopMaximum loopCondition"
    ),
    "tMultiInstanceLoopCharacteristics": type_of(
        "tLoopCharacteristics",
        "@isSequential loopCardinality loopDataInputRef inputDataItem completionCondition",
        "@behavior @oneBehaviorEventRef @noneBehaviorEventRef loopDataOutputRef outputDataItem "
        "complexBehaviorDefinition",
    ),
    "tComplexBehaviorDefinition": type_of(kept="condition event"),
    # who does it (10.3.1)
    "tResourceRole": type_of(
        kept="@name resourceRef resourceParameterBinding resourceAssignmentExpression"
    ),
    "tPerformer": type_of("tResourceRole"),
    "tHumanPerformer": type_of("tPerformer"),
    "tPotentialOwner": type_of("tHumanPerformer"),
    "tResourceAssignmentExpression": type_of(kept="expression"),
    "tResourceParameterBinding": type_of(kept="@parameterRef expression"),
    # data (10.4)
    "tDataObject": type_of("tFlowElement", "@itemSubjectRef @isCollection dataState"),
    "tDataObjectReference": type_of("tFlowElement", "@itemSubjectRef @dataObjectRef dataState"),
    "tDataState": type_of(modelled="@name"),
    "tDataStore": type_of(
        _ROOT, "@name", harmless="@capacity @isUnlimited @itemSubjectRef dataState"
    ),
    "tDataStoreReference": type_of("tFlowElement", "@itemSubjectRef @dataStoreRef dataState"),
    "tDataInput": type_of(modelled="@name @itemSubjectRef @isCollection dataState"),
    "tDataOutput": type_of(modelled="@name @itemSubjectRef @isCollection dataState"),
    "tProperty": type_of(kept="@name @itemSubjectRef dataState"),
    "tDataAssociation": type_of(modelled="sourceRef targetRef transformation assignment"),
    "tDataInputAssociation": type_of("tDataAssociation"),
    "tDataOutputAssociation": type_of("tDataAssociation"),
    "tAssignment": type_of(modelled="from to"),
    "tInputOutputSpecification": type_of(kept="dataInput dataOutput inputSet outputSet"),
    "tInputOutputBinding": type_of(kept="@operationRef @inputDataRef @outputDataRef"),
    "tInputSet": type_of(
        kept="@name dataInputRefs optionalInputRefs whileExecutingInputRefs outputSetRefs"
    ),
    "tOutputSet": type_of(
        kept="@name dataOutputRefs optionalOutputRefs whileExecutingOutputRefs inputSetRefs"
    ),
    # events (10.5)
    "tEvent": type_of("tFlowNode", kept="property"),
    "tCatchEvent": type_of(
        "tEvent",
        "@parallelMultiple dataOutputAssociation eventDefinition eventDefinitionRef",
        "dataOutput outputSet",
    ),
    "tThrowEvent": type_of(
        "tEvent",
        "dataInputAssociation eventDefinition eventDefinitionRef",
        "dataInput inputSet",
    ),
    "tStartEvent": type_of("tCatchEvent", "@isInterrupting"),
    "tIntermediateCatchEvent": type_of("tCatchEvent"),
    "tBoundaryEvent": type_of("tCatchEvent", "@cancelActivity @attachedToRef"),
    "tIntermediateThrowEvent": type_of("tThrowEvent"),
    "tImplicitThrowEvent": type_of("tThrowEvent"),
    "tEndEvent": type_of("tThrowEvent"),
    "tEventDefinition": type_of(_ROOT),
    "tCancelEventDefinition": type_of(_EVENT),
    "tCompensateEventDefinition": type_of(_EVENT, "@waitForCompletion @activityRef"),
    "tConditionalEventDefinition": type_of(_EVENT, "condition"),
    "tErrorEventDefinition": type_of(_EVENT, "@errorRef"),
    "tEscalationEventDefinition": type_of(_EVENT, "@escalationRef"),
    "tLinkEventDefinition": type_of(_EVENT, "@name", "source target"),
    "tMessageEventDefinition": type_of(_EVENT, "@messageRef", "operationRef"),
    "tSignalEventDefinition": type_of(_EVENT, "@signalRef"),
    "tTerminateEventDefinition": type_of(_EVENT),
    "tTimerEventDefinition": type_of(_EVENT, "timeDate timeDuration timeCycle"),
    # gateways (10.6)
    "tGateway": type_of("tFlowNode", kept="@gatewayDirection"),
    "tExclusiveGateway": type_of("tGateway", "@default"),
    "tInclusiveGateway": type_of("tGateway", "@default"),
    "tParallelGateway": type_of("tGateway"),
    "tEventBasedGateway": type_of("tGateway", "@instantiate @eventGatewayType"),
    "tComplexGateway": type_of("tGateway", "@default activationCondition"),
}
"""By name of the complex type in Semantic.xsd and BPMN20.xsd."""


def _tag_types() -> dict[str, str]:
    """Global element declarations: `task` is of type `tTask`, with one exception."""
    tags = {name[1].lower() + name[2:]: name for name in TYPES}
    del tags["inputOutputSpecification"], tags["inputOutputBinding"]
    tags["ioSpecification"] = "tInputOutputSpecification"
    tags["ioBinding"] = "tInputOutputBinding"
    return tags


TAGS: dict[str, str] = _tag_types()
"""The type of every tag that the schema declares globally."""

LOCAL_TAGS: dict[str, str] = {
    **dict.fromkeys(
        (
            "activationCondition", "completionCondition", "condition", "conditionExpression",
            "dataPath", "from", "loopCardinality", "loopCondition", "messagePath", "timeCycle",
            "timeDate", "timeDuration", "to", "transformation",
        ),
        "tFormalExpression",
    ),
    "childLaneSet": "tLaneSet",
    "event": "tImplicitThrowEvent",
    "inputDataItem": "tDataInput",
    "outputDataItem": "tDataOutput",
    "partitionElement": "tBaseElement",
}  # fmt: skip
"""The type of tags declared inside a type; an expression may always be a formal one."""

SUBSTITUTES: dict[str, str] = {
    "artifact": "association group textAnnotation",
    "collaboration": "choreography globalConversation globalChoreographyTask",
    "conversationNode": "callConversation conversation subConversation",
    "eventDefinition": "cancelEventDefinition compensateEventDefinition "
    "conditionalEventDefinition errorEventDefinition escalationEventDefinition "
    "linkEventDefinition messageEventDefinition signalEventDefinition terminateEventDefinition "
    "timerEventDefinition",
    "expression": "formalExpression",
    "flowElement": "adHocSubProcess boundaryEvent businessRuleTask callActivity callChoreography "
    "choreographyTask complexGateway dataObject dataObjectReference dataStoreReference endEvent "
    "event eventBasedGateway exclusiveGateway implicitThrowEvent inclusiveGateway "
    "intermediateCatchEvent intermediateThrowEvent manualTask parallelGateway receiveTask "
    "scriptTask sendTask sequenceFlow serviceTask startEvent subChoreography subProcess task "
    "transaction userTask",
    "loopCharacteristics": "multiInstanceLoopCharacteristics standardLoopCharacteristics",
    "resourceRole": "performer humanPerformer potentialOwner",
    "rootElement": "category collaboration choreography globalConversation "
    "globalChoreographyTask correlationProperty dataStore endPoint error escalation "
    "eventDefinition globalBusinessRuleTask globalManualTask globalScriptTask globalTask "
    "globalUserTask interface itemDefinition message partnerEntity partnerRole process resource "
    "signal",
}
"""Substitution groups: tags that may replace the head in the schema."""

KNOWN_TAGS = frozenset(TAGS) | {
    m for t in TYPES.values() for m in t.members if not m.startswith("@")
}
"""Every tag of BPMN 2.0."""

OPAQUE_NODES = frozenset(
    ("activity", "callChoreography", "catchEvent", "choreographyActivity", "choreographyTask",
     "event", "flowElement", "flowNode", "gateway", "implicitThrowEvent", "subChoreography",
     "throwEvent")
)  # fmt: skip
"""Tags that are or seem to be flow nodes and that no process can execute: abstract ones, those of
choreographies, and the event that only the instances of a multi-instance activity throw."""


def _list_bases(name: str | None) -> list[Type]:
    bases = []
    while name is not None:
        bases.append(TYPES[name])
        name = TYPES[name].base
    return bases


@cache
def attributes_of(tag: str) -> frozenset[str]:
    """Attributes of a tag in the schema, including inherited ones."""
    name = LOCAL_TAGS.get(tag) or TAGS.get(tag)
    return frozenset(m[1:] for t in _list_bases(name) for m in t.members if m.startswith("@"))


@cache
def children_of(tag: str) -> frozenset[str]:
    """Child elements of a tag in the schema, including members of substitution groups."""
    name = LOCAL_TAGS.get(tag) or TAGS.get(tag)
    members = {m for t in _list_bases(name) for m in t.members if not m.startswith("@")}
    for head in list(members):
        members.update(SUBSTITUTES.get(head, "").split())
    if "rootElement" in members:
        members.update(SUBSTITUTES["eventDefinition"].split())
    return frozenset(members)
