"""The questions about a draft as an HTML page with a form, next to the picture of the process."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence

from orgflow.agents.text.doubts import OPTIONS, Question
from orgflow.evaluation.page import clean_text, page_templates


def render_questions(
    title: str, asked: Sequence[Question], given: Mapping[str, str], picture: str, notice: str = ""
) -> tuple[str, str]:
    """The page, and the content of its style sheet; it needs no script.

    Args:
        given: the answers so far, by element.
        picture: the picture of the process as SVG text, shown as an image.
        notice: the result of the latest answers.

    Every text may come from a document or a model: all are escaped.
    """
    environment = page_templates()
    rows = [
        {
            "element": q.element,
            "text": clean_text(q.text.replace("`", "")),
            "sentence": clean_text(q.sentence),
            "chosen": given.get(q.element, q.current),
            "answered": q.element in given,
        }
        for q in asked
    ]
    style = environment.get_template("questions.css.j2").render()
    html = environment.get_template("questions.html.j2").render(
        title=clean_text(title), rows=rows, options=OPTIONS, notice=clean_text(notice),
        style=style, image=base64.b64encode(picture.encode("utf-8", "replace")).decode(),
    )  # fmt: skip
    return html, style
