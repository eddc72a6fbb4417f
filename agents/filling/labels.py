"""Labels, prose and open lists in the form that the model needs: conditions over named fields,
times."""

from __future__ import annotations

from typing import Any, ClassVar

from orgflow.agents.model_client.answer_reading import UnreadableAnswer, read_json
from orgflow.agents.prompting import render_prompt, visible_text

from orgflow_ir.gaps.gap import Gap, GapKind
from orgflow_ir.model import Element, Flow, Model
from orgflow_ir.pipeline import PassContext
from orgflow_ir.pipeline.services import required
from orgflow_ir.plugins.agents import Answer, GapAgent, Refusal

_MOST_TEXT = 1_500


class LabelReader(GapAgent):
    """Answers the questions of a schema with the language model of the context."""

    name = "labels"
    summary = "conditions, times and lists for labels and prose, by a language model"
    kinds: ClassVar[frozenset[GapKind] | None] = frozenset(
        ("decision", "branch", "condition", "time", "list")
    )
    attempts = 2

    def answer(
        self, gap: Gap, model: Model, ctx: PassContext, refused: tuple[Refusal, ...]
    ) -> Answer | None:
        """The answer of the model, which the passes check; `None` if it has none."""
        client = required(ctx.services.model, "language model")
        own = [refusal for refusal in refused if refusal.agent == self.name]
        prompt = label_prompt(gap, model, own[-1].reason if own else "")
        messages = [
            {"role": "system", "content": render_prompt("fill_rules")},
            {"role": "user", "content": prompt},
        ]
        schema = {"anyOf": [gap.schema, {"type": "null"}]}
        text = client.ask(messages, schema=schema).text
        if text.strip().strip("`").strip() in ("null", "none", ""):
            return None
        try:
            value: Any = read_json(text).value
        except UnreadableAnswer as error:
            return Answer(f"what it wrote {error}")  # refused by the schema, and shown once more
        return None if value is None else Answer(value)


def label_prompt(gap: Gap, model: Model, fault: str = "") -> str:
    """The question about a gap for the language model."""
    return render_prompt(
        "fill_answer", message=visible_text(gap.message), help=visible_text(gap.help),
        material=_describe_element(gap, model), fault=fault,
    )  # fmt: skip


def _describe_element(gap: Gap, model: Model) -> str:
    """The element, its flows, and what documentation says of it."""
    scope = next((s for s in model.scopes() if s.id == gap.scope), None)
    lines = [f"element: {gap.element.name or gap.element.id}"]
    lines += [f"documentation: {gap.element.doc}"] if gap.element.doc else []
    for flow in scope.flows if scope is not None else ():
        if flow.source == gap.element.id or flow.id == gap.element.id:
            target = next((n for n in scope.nodes if n.id == flow.target), None) if scope else None
            lines.append(
                f"branch {flow.id}: {_describe_branch(flow)} -> {_describe_target(target)}"
            )
    lines += [f"the source says: {e.quote}" for e in gap.element.evidence]
    return visible_text("\n".join(lines))[:_MOST_TEXT]


def _describe_branch(flow: Flow) -> str:
    return flow.name or (flow.condition.text if flow.condition is not None else "") or "no label"


def _describe_target(element: Element | None) -> str:
    return element.name if element is not None and element.name else "a step without a name"
