"""Ad-hoc sub-processes as sequences in one of the permitted orders."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import (
    CallActivity,
    Event,
    Flow,
    Gateway,
    Model,
    Node,
    SubProcess,
    Task,
)
from orgflow_ir.model.constructs import ConstructUse
from orgflow_ir.model.element_names import one_line
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets.lowering import RewritePattern

if TYPE_CHECKING:
    import html

    from orgflow_ir.model.rewriter import Rewriter
else:  # choices in a form only
    html = LazyModule("html")


class AdHocInOrder(RewritePattern):
    """The performers of an ad-hoc sub-process may begin its steps repeatedly and in any order (BPMN
    2.0.2, 10.3.5). Without performers who choose, each step is done once, in model order; a
    completion condition ends the sub-process after the first step after which it holds. The
    remaining runs are runs of the source. Not if a worker or a list of the model chooses."""

    name = "ad-hoc-in-order"
    consumes = ("sub-process.ad-hoc",)
    produces = (
        "sub-process.plain", "event.start.none", "event.end.none", "gateway.exclusive",
        "flow.sequence", "flow.conditional", "flow.default",
    )  # fmt: skip
    loses = "the choice of which steps are done, how often, and in which order"

    def rewrite(self, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str | None:
        sub, scope = use.element, use.scope
        assert isinstance(sub, SubProcess)
        assert scope is not None
        steps = None if chosen_by(sub) else steps_of(sub)
        if steps is None:
            return None

        def connect_nodes(source: str, target: str, role: str, **more: object) -> Flow:
            id = rewriter.fresh_id(sub.id, role)
            return Flow.validate({"id": id, "source": source, "target": target, **more})

        start = Event(id=rewriter.fresh_id(sub.id, "start"), position="start")
        end = Event(id=rewriter.fresh_id(sub.id, "end"), position="end")
        added: list[Node] = [start, end]
        flows: list[Flow] = []
        last = start.id
        for number, (first, final) in enumerate(steps, 1):
            flows.append(connect_nodes(last, first, f"to-{number}"))
            last = final
            if sub.completion is not None and number < len(steps):
                done = rewriter.fresh_id(sub.id, f"done-{number}")
                added.append(Gateway(id=done, gateway_kind="exclusive"))
                flows.append(connect_nodes(last, done, f"after-{number}"))
                flows.append(
                    connect_nodes(done, end.id, f"ends-{number}", condition=sub.completion)
                )
                last = done
        flows.append(connect_nodes(last, end.id, "done"))
        if sub.completion is not None:
            ends = {f.source for f in flows if f.condition is not None}
            flows = [
                f.replace(default=True) if f.source in ends and f.condition is None else f
                for f in flows
            ]
        plain = sub.replace(
            flavour="plain",
            nodes=(*sub.nodes, *added),
            flows=(*sub.flows, *flows),
            completion=None,
            sequential=False,
            cancel_remaining=True,
        )
        rewriter.replace(scope.id, sub.id, plain)
        return f"each step of {ctx.name(sub)} is done once, in model order"


_ZEEBE = "{http://camunda.org/schema/zeebe/1.0}"
_ATTRIBUTE = r"""\b{}\s*=\s*(?:"([^"]*)"|'([^']*)')"""


def chosen_by(sub: SubProcess) -> str:
    """What chooses the steps of an ad-hoc sub-process of Camunda 8: a worker (such as that of its
    AI agents), or a list; empty if its performers do."""
    for name, attribute, words in (
        ("taskDefinition", "type", "a worker for the job type `{}` chooses its steps in each run"),
        ("adHoc", "activeElementsCollection", "the list `{}` chooses its steps in each run"),
    ):
        for key, text in sub.extra:
            match = re.search(_ATTRIBUTE.format(attribute), text) if key == _ZEEBE + name else None
            if match is not None and (value := html.unescape(match[1] or match[2] or "")).strip():
                return words.format(one_line(value).removeprefix("="))
    return ""


def why_not_in_order(use: ConstructUse, model: Model, ctx: PassContext) -> str:
    """Why an ad-hoc sub-process cannot become a sequence; empty if the general reason applies."""
    assert isinstance(use.element, SubProcess)
    return chosen_by(use.element)


def steps_of(sub: SubProcess) -> list[tuple[str, str]] | None:
    """First and last node of each connected part of an ad-hoc sub-process, in model order; `None`
    if a part has several first or last nodes, or if the sub-process is empty."""
    nodes = {n.id: n for n in sub.nodes if not getattr(n, "for_compensation", False)}
    part = {id: id for id in nodes}

    def find_root(id: str) -> str:
        while part[id] != id:
            id = part[id]
        return id

    pairs = [(f.source, f.target) for f in sub.flows]
    pairs += [
        (n.attached_to, n.id)
        for n in nodes.values()
        if isinstance(n, Event) and n.attached_to is not None
    ]
    for source, target in pairs:
        if source not in nodes or target not in nodes:
            return None
        part[find_root(target)] = find_root(source)
    entered = {target for _, target in pairs}
    left = {f.source for f in sub.flows}
    groups: dict[str, tuple[list[str], list[str]]] = {}
    for id, node in nodes.items():
        if isinstance(node, Event) and node.position in ("start", "end"):
            return None
        firsts, lasts = groups.setdefault(find_root(id), ([], []))
        if id not in entered:
            firsts.append(id)
        if id not in left:
            lasts.append(id)
    steps = list(groups.values())
    if not any(isinstance(n, Task | CallActivity | SubProcess) for n in nodes.values()):
        return None
    if any(len(firsts) != 1 or len(lasts) != 1 for firsts, lasts in steps):
        return None
    return [(firsts[0], lasts[0]) for firsts, lasts in steps]


AD_HOC: tuple[RewritePattern, ...] = (AdHocInOrder(),)
