"""Names of work that a model does not contain (a class, a topic, a job type): which work a task
names, and the process that becomes the workflow for the name.

Engines identify a class, a topic, a job type, a decision or a process by its name alone, regardless
of the file. The same holds for its workflow: the files of a folder, and those compiled one by one,
call the same one. A script, and work without a name, belong to their model.
"""

from __future__ import annotations

import hashlib

from orgflow.backends.n8n.format.identity import WORK_PREFIX
from orgflow.backends.n8n.plan.names import plain, title
from orgflow.backends.n8n.plan.scopes import WorkflowScope

from orgflow_ir.gaps import has_implementation
from orgflow_ir.model import Event, Flow, Model, Process, Task
from orgflow_ir.model.binding_text import describe_implementation
from orgflow_ir.model.bindings import Decision, Form, Script, SubProcessCall, Worker
from orgflow_ir.model.records import NamedTuple

STUBS, WORKFLOW = "stubs", "workflow"
"""The option for work that is only named, and its value for a call."""

_WORDS = {
    "delegate": "delegate expression", "job": "job type", "handler": "work item handler",
    "type": "task type",
}  # fmt: skip


class NamedWork(NamedTuple):
    """Something outside of the model that performs work.

    Attributes:
        kind: the kind of its name (`class`, `topic`, `script` …), in words.
        name: its name; without one, the label of the task.
        key: distinguishes it from all others of the model.
        shared: whether the name means the same in other models.
    """

    kind: str
    name: str
    key: str
    shared: bool = False

    @property
    def process(self) -> str:
        """The id of the process that becomes its workflow."""
        return f"{WORK_PREFIX}{self.key}"

    def scope(self, model: Model, caller: Process, doc: str = "") -> WorkflowScope:
        """The process that becomes its workflow; `doc` is the contract.

        For work that is not shared, the caller passes the name of its owner: the first process of
            the model with executable content, so that the identity does not depend on the caller.
        """
        own = f"{plain(self.name)} ({self.kind})"
        process = Process(
            id=self.process,
            name=own if self.shared else f"{title(model, caller)}: {own}",
            doc=doc,
            nodes=(
                Event(id=f"called-{self.key}", name=f"{self.name} is called", position="start"),
                Task(id=f"do-{self.key}", name=self.name, task_type="service", doc=doc),
            ),
            flows=(
                Flow(
                    id=f"flow-{self.key}", source=f"called-{self.key}", target=f"do-{self.key}"
                ),
            ),
        )  # fmt: skip
        alone = Model(id=model.id, name=model.name, source=model.source, processes=(process,))
        if self.shared:
            alone = Model(id="work", processes=(process,))
        return WorkflowScope(alone, process, process, only_called=True, shared=self.shared)


def named_work(task: Task) -> NamedWork | None:
    """The work that a task names; `None` if it names none, or a person performs it."""
    binding = task.binding
    if binding is None or isinstance(binding, Form) or not has_implementation(task):
        return None
    match binding:
        case Worker(by="catalogue" | "n8n"):
            return None  # a kind of node, which other tasks use for something else
        case Worker(target=str() as target) if target.startswith("##"):
            return None  # a kind of implementation (`##WebService`), and none of them
        case Worker(by=by, target=str() as target):
            name = target.strip()
            if by in ("delegate", "expression") and name[:2] in ("${", "#{"):
                name = name[2:].removesuffix("}").strip()
            return NamedWork(
                _WORDS.get(by, by), name or by, _make_key(by, target.strip()), bool(name)
            )
        case SubProcessCall(process=str() as process):
            return NamedWork(
                "process", process.strip(), _make_key("process", process.strip()), True
            )
        case Decision(decision=str() as decision):
            return NamedWork("decision", decision, _make_key("decision", decision), True)
        case Script(code=str() as code):
            key = _make_key("script", f"{binding.language}\0{code}")
            return NamedWork("script", task.caption, key)
    return NamedWork(
        describe_implementation(binding).partition(" `")[0],
        task.caption,
        _make_key("task", task.id),
    )


def _make_key(kind: str, text: str) -> str:
    """Text that is unlike that of any other work, and may stand in an id."""
    digest = hashlib.sha256(f"{kind}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()[:8]
    words = "".join(c if c.isascii() and c.isalnum() else "-" for c in text)[:40].strip("-")
    return f"{kind}-{words}-{digest}" if words else f"{kind}-{digest}"
