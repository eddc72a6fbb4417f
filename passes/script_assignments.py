"""Assignments of scripts that their engine does not store."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from orgflow_ir.diagnostics import Category, Related, Rule, Severity
from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import Model, Node, Scope, Task
from orgflow_ir.model.bindings import Script
from orgflow_ir.model.dialect import ENGINE_NAMES
from orgflow_ir.pipeline import Pass, PassContext, Stage

if TYPE_CHECKING:
    from orgflow_ir.work import local_variables, process_variables, scripts
else:  # models with scripts only
    local_variables = LazyModule("orgflow_ir.work.local_variables")
    process_variables = LazyModule("orgflow_ir.work.process_variables")
    scripts = LazyModule("orgflow_ir.work.scripts")


class UnstoredAssignment(Rule):
    """
    What it finds
        A script that assigns a variable (`total = a + b`), in a file of an engine that does not
        store assignments of scripts, and a later element that reads a variable of this name.
        Reported are scripts that are supported completely. A declared variable (`def total`,
        `var total`) is reported only if nothing in the model sets one of this name.
    Why it is wrong
        The assigned value is lost when the script ends: Camunda 7, Operaton, Flowable, Activiti and
        jBPM store what `setVariable` sets. The later element reads an old value, or none, and the
        engine stops. orgflow does the same.
    Example
        The script `total = net * 1.2`, and a condition `${total > 100}` after it.
    Instead
        Call `execution.setVariable("total", total)`; in Flowable and Activiti, the attribute
        `autoStoreVariables="true"` of the script task stores the assignments.
    """

    code = "OF315"
    name = "unstored-assignment"
    severity = Severity.WARNING
    category = Category.DATA


class ScriptAssignments(Pass):
    """Reports assignments of scripts that a later element needs and that the engine of the file
    does not store."""

    name: ClassVar[str] = "script-assignments"
    stage: ClassVar[Stage] = Stage.ANALYSE
    rules: ClassVar[tuple[type[Rule], ...]] = (UnstoredAssignment,)

    def run(self, model: Model, ctx: PassContext) -> Model:
        """Report the findings and return the model unchanged."""
        for scope in ctx.scopes(model):
            for node in scope.nodes:
                binding = node.binding if isinstance(node, Task) else None
                if isinstance(binding, Script) and binding.by in ENGINE_NAMES and binding.code:
                    _check_script(node, binding, scope, model, ctx)
        return model


def _check_script(node: Node, script: Script, scope: Scope, model: Model, ctx: PassContext) -> None:
    # Imported for a model with scripts.

    names = scripts.kept_in_script(script)
    elsewhere = {
        v for s in model.scopes() for n in s.nodes for v in process_variables.declared_by(n)
    }
    for name in (
        *names.assigned,
        *(name_declared for name_declared in names.declared if name_declared not in elsewhere),
    ):
        reader = local_variables.first_reader(name, node, scope, model, ctx)
        if reader is None:
            continue
        engine = next(title for key, title in ENGINE_NAMES.items() if key == script.by)
        call = "kcontext" if script.by == "jbpm" else "execution"
        attribute = ', or add `autoStoreVariables="true"`'
        stores = attribute if script.by in ("flowable", "activiti") else ""
        ctx.emit(
            UnstoredAssignment,
            f"the script of {ctx.name(node)} assigns `{name}`, which {ctx.name(reader)} reads, but "
            f"{engine} does not store assignments of scripts",
            element=node,
            help=f'call `{call}.setVariable("{name}", {name})` in the script{stores}',
            related=[
                Related(
                    message=f"{ctx.name(reader)} reads `{name}`", element=reader.id, loc=reader.loc
                )
            ],
        )
