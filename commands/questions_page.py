"""The page on which people answer the open questions of a draft."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from orgflow.agents.text.doubts import OPTIONS, Question, apply_answers
from orgflow.commands.page_server import Page, PageText, Refused, Saved
from orgflow.evaluation.questions_page import render_questions
from orgflow.evaluation.text_page import title_of_page

from orgflow_ir.model import GatewayKind, Model

_BUTTON = "then"


class QuestionsPage(Page):
    """The questions about a draft.

    Args:
        draw: the picture of a model, as SVG text.
        keep: called with all answers whenever some are saved.
        document: the name of the text, the title of a process without a name.

    Attributes:
        given: the answers so far, by element.
    """

    name: ClassVar[str] = "questions"

    def __init__(
        self,
        model: Model,
        asked: Sequence[Question],
        draw: Callable[[Model], str],
        keep: Callable[[dict[str, GatewayKind]], None],
        document: str,
    ) -> None:
        self._title = title_of_page(model, document)
        self._model, self._asked, self._draw, self._keep = model, tuple(asked), draw, keep
        self.given: dict[str, GatewayKind] = {}

    def text(self, notice: str) -> PageText:
        """The form, with the process that results from the answers."""
        picture = self._draw(apply_answers(self._model, self.given))
        html, style = render_questions(self._title, self._asked, self.given, picture, notice)
        return PageText(html, styles=(style,))

    def save(self, answers: Any) -> Saved:
        """Keep the answers of a form: for each element one of `OPTIONS`."""
        if not isinstance(answers, dict):
            raise Refused("The answers have an unexpected form.")
        asked = {question.element for question in self._asked}
        given: dict[str, GatewayKind] = {}
        for element, values in answers.items():
            value = values[-1] if isinstance(values, list) and values else values
            if element == _BUTTON:
                continue
            kind = next((kind for kind in OPTIONS if kind == value), None)
            if element not in asked or kind is None:
                raise Refused("An answer is not one of the choices. Reload the page.")
            given[element] = kind
        self.given |= given
        self._keep(self.given)
        return Saved(finished=answers.get(_BUTTON) in (["finish"], "finish"))
