"""The rules that report and the severity of their findings, as configured by a project."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from orgflow_ir.diagnostics.diagnostic import Diagnostic
from orgflow_ir.diagnostics.rule import Rule, Severity
from orgflow_ir.model.records import NamedTuple


class Grading(NamedTuple):
    """Severities by code that override those of the rules; `None` turns a rule off.

    Other rules keep their own severity, and optional ones are off.

    Example:
        Grading({"OF128": None, "OF131": Severity.ERROR})
    """

    severities: Mapping[str, Severity | None] = {}  # never changed

    def reports(self, rule: type[Rule]) -> bool:
        """Whether findings of a rule are reported."""
        if rule.code in self.severities:
            return self.severities[rule.code] is not None
        return not rule.optional

    def graded(self, diagnostics: Iterable[Diagnostic], *, errors: bool = True) -> list[Diagnostic]:
        """The reported findings, with their configured severities.

        Without `errors`, errors keep their severity and no other finding becomes an error, so style
        does not decide whether a model compiles.
        """
        result: list[Diagnostic] = []
        for diagnostic in diagnostics:
            if diagnostic.code not in self.severities or (
                not errors and diagnostic.severity is Severity.ERROR
            ):
                result.append(diagnostic)
                continue
            wanted = self.severities[diagnostic.code]
            if wanted is None:
                continue
            if wanted is Severity.ERROR and not errors:
                wanted = Severity.WARNING
            result.append(
                diagnostic if wanted is diagnostic.severity else diagnostic.replace(severity=wanted)
            )
        return result
