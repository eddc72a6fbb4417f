"""Mappings of forms: which answers stay inside a task, and what the mappings set."""

from __future__ import annotations

from orgflow.backends.n8n.plan.task_form import TaskForm

from orgflow_ir.model.bindings import Form
from orgflow_ir.work.people import about as about_binding
from orgflow_ir.work.statements import assigned


def add_mappings(form: TaskForm, binding: Form) -> TaskForm:
    """A form with what the mappings of its task keep inside of it and what they set."""
    about = about_binding(binding)
    inside = frozenset(
        field.asked.variable
        for field in form.fields
        if field.asked.source in ("model", "mapping") and about.is_inside(field.asked.variable)
    )
    return form._replace(inside=inside, sets=tuple(dict.fromkeys(assigned(about.work.after))))
