"""Modules of version 0.2 under their old names, which this version still accepts with a warning.

`orgflow_ir.analysis` was divided into `flow`, `program`, `languages`, `work`, `gaps` and `facts`.
An import by an old name issues a `DeprecationWarning` that names the new one.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Sequence
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from types import ModuleType

NEW_NAMES = {
    "analysis.called_processes": "linking.called_processes",
    "analysis.calls": "flow.control_flow.calls",
    "analysis.collaboration_analysis": "flow.soundness.collaboration",
    "analysis.concurrent_waits": "flow.concurrency.concurrent_waits",
    "analysis.condition_types": "work.condition_types",
    "analysis.control_flow.concurrency": "flow.concurrency.parallel_steps",
    "analysis.control_flow.graph": "flow.control_flow.graph",
    "analysis.control_flow.open_together": "flow.concurrency.open_together",
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
    "analysis.expressions.java_text": "program.java_text",
    "analysis.expressions.parsers.core": "languages.expression_parser",
    "analysis.expressions.parsers.feel": "languages.feel_conditions",
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
}
"""New names of modules and packages by their old ones, without `orgflow_ir.`."""

_EMPTY = ("analysis.control_flow", "analysis.expressions", "analysis.expressions.parsers")
"""Packages whose modules now belong to several packages."""


def find_new_name(old: str) -> str | None:
    """The full new name of a module by its full old name; `None` if it had no such module."""
    short = old.removeprefix("orgflow_ir.")
    known = [name for name in NEW_NAMES if short == name or short.startswith(f"{name}.")]
    if not known:
        return None
    longest = max(known, key=len)
    return f"orgflow_ir.{NEW_NAMES[longest]}{short.removeprefix(longest)}"


class _OldNames(Loader):
    """Finds and loads modules by their old names."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not name.startswith("orgflow_ir.analysis."):
            return None
        empty = name.removeprefix("orgflow_ir.") in _EMPTY
        if not empty and find_new_name(name) is None:
            return None
        return ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        new_name = find_new_name(module.__name__)
        if new_name is None:
            return
        message = f"{module.__name__} is now {new_name}; the old name ends with the next version"
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        new = importlib.import_module(new_name)
        public = {name: value for name, value in vars(new).items() if not name.startswith("__")}
        vars(module).update(public)


sys.meta_path.append(_OldNames())
