"""Names that modules and their contents had in version 0.2, which this version still accepts.

An import by an old name gives the same objects and issues a `DeprecationWarning` that names the new
one. `orgflow_ir/__init__.py` asks here only for modules that Python does not find otherwise.
"""

from __future__ import annotations

import importlib
import warnings
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

MODULES = {
    "analysis.called_processes": "linking.called_processes",
    "analysis.calls": "flow.control_flow.calls",
    "analysis.collaboration_analysis": "flow.soundness.collaboration",
    "analysis.concurrent_waits": "flow.concurrency.model_concurrency",
    "analysis.condition_types": "work.condition_types",
    "analysis.control_flow.concurrency": "flow.concurrency.parallel_steps",
    "analysis.control_flow.graph": "flow.control_flow.graph",
    "analysis.control_flow.open_together": "flow.concurrency.model_concurrency",
    "analysis.control_flow.outgoing": "flow.control_flow.outgoing",
    "analysis.control_flow.region_tree": "flow.nets.region_tree",
    "analysis.control_flow.regions": "flow.nets.regions",
    "analysis.decisions": "work.gateway_decisions",
    "analysis.demands": "program.demands",
    "analysis.escalations": "flow.nets.escalations",
    "analysis.evidence": "filling.evidence_check",
    "analysis.expressions.condition_completeness": "program.condition_completeness",
    "analysis.expressions.decimals": "program.decimals",
    "analysis.expressions.evaluator": "program.evaluator",
    "analysis.expressions.exact": "program.exact",
    "analysis.expressions.feel": "languages.feel",
    "analysis.expressions.feel.boundary": "program.feel.boundary",
    "analysis.expressions.feel.calendar": "program.feel.calendar",
    "analysis.expressions.feel.evaluator": "program.structure_evaluation",
    "analysis.expressions.feel.functions": "program.feel",
    "analysis.expressions.feel.functions.contexts": "program.feel.context_functions",
    "analysis.expressions.feel.functions.conversions": "program.feel.conversion_functions",
    "analysis.expressions.feel.functions.lists": "program.feel.list_functions",
    "analysis.expressions.feel.functions.numeric": "program.feel.number_functions",
    "analysis.expressions.feel.functions.ranges": "program.feel.range_functions",
    "analysis.expressions.feel.functions.strings": "program.feel.text_functions",
    "analysis.expressions.feel.numbers": "program.feel.numbers",
    "analysis.expressions.feel.patterns": "program.feel.patterns",
    "analysis.expressions.feel.short": "program.feel_elaboration",
    "analysis.expressions.feel.signatures": "program.feel.signatures",
    "analysis.expressions.feel.syntax": "program.structures",
    "analysis.expressions.feel.types": "program.feel.types",
    "analysis.expressions.feel.values": "program.feel.values",
    "analysis.expressions.java_text": "program.java_text",
    "analysis.expressions.parsers.core": "languages.expression_parser",
    "analysis.expressions.parsers.feel": "languages.feel.reading",
    "analysis.expressions.parsers.java": "languages.java",
    "analysis.expressions.parsers.javascript": "languages.javascript",
    "analysis.expressions.parsers.juel": "languages.juel",
    "analysis.expressions.parsers.literals": "languages.literals",
    "analysis.expressions.parsers.xpath": "languages.xpath",
    "analysis.expressions.recognise": "languages.recognise",
    "analysis.expressions.syntax": "program.syntax",
    "analysis.facts": "facts",
    "analysis.failures": "flow.nets.failures",
    "analysis.forms": "work.form_fields",
    "analysis.gaps": "gaps",
    "analysis.gaps.filling": "filling.gap_filling",
    "analysis.gaps.report": "gaps.gap_report",
    "analysis.gaps.rules": "gaps.gap_rules",
    "analysis.gaps.times": "gaps.timer_times",
    "analysis.local_variables": "work.local_variables",
    "analysis.model_changes": "comparison.model_changes",
    "analysis.repetition": "work.repetition",
    "analysis.signals": "flow.control_flow.signals",
    "analysis.soundness": "flow.soundness",
    "analysis.soundness.activity_summaries": "flow.nets.activity_summaries",
    "analysis.soundness.build_net": "flow.nets.build_net",
    "analysis.soundness.net": "flow.nets.net",
    "analysis.soundness.reducing": "flow.nets.reducing",
    "analysis.soundness.reduction": "flow.nets.reduction",
    "analysis.soundness.wiring": "flow.nets.wiring",
    "analysis.stub_data": "flow.token_game.stub_data",
    "analysis.token_game": "flow.token_game",
    "analysis.variables": "work.process_variables",
    "analysis.work": "work",
    "diagnostics.github": "reporting.github_reporter",
    "diagnostics.json": "reporting.json_reporter",
    "diagnostics.reporters": "reporting.reporters",
    "diagnostics.sarif": "reporting.sarif_reporter",
    "diagnostics.streamed_lines": "reporting.streamed_lines",
    "diagnostics.suppression": "reporting.suppression",
    "diagnostics.text": "reporting.text_reporter",
    "targets.catalogue": "pipeline.operation_catalogue",
    "targets.rules": "targets.target_rules",
    "targets.stubs": "legalisation.stubs",
    "testing.conformance.structure": "testing.conformance.kept_structure",
    "testing.minimal": "testing.conformance.minimal_models",
}
"""New names of modules and packages by their old ones, without `orgflow_ir.`."""

EMPTY = (
    "analysis",
    "analysis.control_flow",
    "analysis.expressions",
    "analysis.expressions.parsers",
)
"""Packages whose modules now belong to several packages."""

ATTRIBUTES = {
    "plugins.contracts": dict.fromkeys(
        ("NodeExecution", "RunResult", "Runner", "RunnerError"), "plugins.runners"
    ),
    "targets": dict.fromkeys(
        ("constructs", "extended", "illegal_uses", "legalise"), "legalisation.legalise"
    ),
}
"""For each module: the new modules of its former names, without `orgflow_ir.`."""


def find_new_name(old: str) -> str | None:
    """The full new name of a module by its full old name; `None` if it had no such module."""
    short = old.removeprefix("orgflow_ir.")
    known = [name for name in MODULES if short == name or short.startswith(f"{name}.")]
    if not known:
        return None
    longest = max(known, key=len)
    return f"orgflow_ir.{MODULES[longest]}{short.removeprefix(longest)}"


def find_moved_module(name: str) -> ModuleSpec | None:
    """What imports a module by its old name; `None` if version 0.2 had no such module."""
    is_empty = name.removeprefix("orgflow_ir.") in EMPTY
    if not is_empty and find_new_name(name) is None:
        return None
    return ModuleSpec(name, _MovedModule(), is_package=True)


class _MovedModule(Loader):
    """Fills a module that has an old name with the names of the new one."""

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        new_name = find_new_name(module.__name__)
        if new_name is None:
            return
        _warn_of_new_name(module.__name__, new_name, stacklevel=3)
        new = importlib.import_module(new_name)
        public = {name: value for name, value in vars(new).items() if name[:2] != "__"}
        vars(module).update(public)


def load_moved_attribute(module: str, name: str) -> Any:
    """What `module.name` has become, for the `__getattr__` of a module that had the name.

    Raises:
        AttributeError: the module never had the name.
    """
    new_module = ATTRIBUTES.get(module.removeprefix("orgflow_ir."), {}).get(name)
    if new_module is None:
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    _warn_of_new_name(f"{module}.{name}", f"orgflow_ir.{new_module}.{name}", stacklevel=4)
    return getattr(importlib.import_module(f"orgflow_ir.{new_module}"), name)


def _warn_of_new_name(old: str, new: str, stacklevel: int) -> None:
    message = f"{old} is now {new}; the old name ends with the next version"
    warnings.warn(message, DeprecationWarning, stacklevel=stacklevel)
