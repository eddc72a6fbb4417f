"""A text and its process next to each other, as one HTML page without script or network."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from orgflow.agents.language.sentences import Sentence
from orgflow.agents.text.coverage import measure_coverage
from orgflow.evaluation.page import clean_text, page_templates

from orgflow_ir.model import Model, Node
from orgflow_ir.model.element_names import one_line


def title_of_page(model: Model, document: str) -> str:
    """The name of the process, otherwise that of its document."""
    named = [process.name for process in model.processes if process.name]
    return clean_text(one_line(named[0] if named else f"Process of {document}"))


def render_text_page(
    model: Model, sentences: Sequence[Sentence], picture: str, document: str
) -> str:
    """The page: each sentence with the elements that cite it, and the picture of the process (SVG
    text). Its title is the process, otherwise the name of the document.

    Every text may come from a document or a model: all are escaped, and the picture is an image.
    """
    environment = page_templates()
    covered = measure_coverage(model, tuple(sentences))
    unused = {sentence.number for sentence in covered.unused}
    left = {sentence.number: ", ".join(words) for sentence, words in covered.words}
    elements: dict[tuple[int, int], list[tuple[str, str]]] = {}
    for process in model.processes:
        for node in process.nodes:
            for evidence in node.evidence:
                if evidence.span is not None:
                    label = one_line(node.caption) if node.name else _name_kind(node)
                    elements.setdefault(evidence.span, []).append((clean_text(label), node.kind))
    rows: list[dict[str, Any]] = [
        {
            "number": s.number,
            "text": clean_text(" ".join(s.text.split())),
            "heading": s.heading,
            "unused": s.number in unused,
            "left": clean_text(left.get(s.number, "")),
            "elements": list(dict.fromkeys(elements.get(s.span, []))),
        }
        for s in sentences
    ]
    image = base64.b64encode(picture.encode("utf-8", "replace")).decode()
    text: str = environment.get_template("text.html.j2").render(
        title=title_of_page(model, document),
        rows=rows,
        unsupported=[clean_text(label) for label in covered.unsupported],
        foreign=[(clean_text(label), ", ".join(words)) for label, words in covered.foreign],
        image=image,
    )
    return text


def _name_kind(node: Node) -> str:
    """What a node without a name is called: `exclusive gateway`, `end event`."""
    parts = node.construct.split(".")
    return f"{parts[1]} {parts[0]}" if len(parts) > 1 else parts[0]
