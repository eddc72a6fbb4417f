"""The treatment of every type, attribute and element of BPMN's diagram schemas (BPMN 2.0.2, 12).

They are read if a diagram is requested (`ctx.options["diagram"]`), otherwise omitted as a whole.
"""

from __future__ import annotations

from orgflow.frontends.bpmn.schema_disposition import Type, type_of

DRAWING_TYPES: dict[str, Type] = {
    # BPMNDI.xsd
    "BPMNDiagram": type_of("Diagram", "BPMNPlane", "BPMNLabelStyle"),
    "BPMNPlane": type_of("Plane", kept="@bpmnElement"),
    "BPMNEdge": type_of(
        "LabeledEdge",
        "@bpmnElement BPMNLabel",
        "@sourceElement @targetElement @messageVisibleKind",
    ),
    "BPMNShape": type_of(
        "LabeledShape",
        "@bpmnElement @isHorizontal @isExpanded BPMNLabel",
        "@isMarkerVisible @isMessageVisible @participantBandKind @choreographyActivityShape",
    ),
    "BPMNLabel": type_of("Label", kept="@labelStyle"),
    "BPMNLabelStyle": type_of("Style", kept="Font"),
    # DI.xsd
    "DiagramElement": type_of(None, kept="@id extension"),
    "Diagram": type_of(None, kept="@name @documentation @resolution @id"),
    "Node": type_of("DiagramElement"),
    "Edge": type_of("DiagramElement", "waypoint"),
    "LabeledEdge": type_of("Edge"),
    "Shape": type_of("Node", "Bounds"),
    "LabeledShape": type_of("Shape"),
    "Label": type_of("Node", "Bounds"),
    "Plane": type_of("Node", "DiagramElement"),
    "Style": type_of(None, kept="@id"),
    # DC.xsd
    "Font": type_of(None, kept="@name @size @isBold @isItalic @isUnderline @isStrikeThrough"),
    "Point": type_of(None, "@x @y"),
    "Bounds": type_of(None, "@x @y @width @height"),
}
"""By name of the complex type in BPMNDI.xsd, DI.xsd and DC.xsd."""
