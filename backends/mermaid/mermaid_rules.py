"""The rule of the Mermaid backend."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class LargeChart(Rule):
    """
    What it finds
        A flowchart that has more than 500 links or 50,000 characters.
    Why it is wrong
        Mermaid renders no chart that exceeds `maxEdges` or `maxTextSize`. Pages with the default
        settings (GitHub, GitLab, most wikis) show an error instead.
    Example
        A process with 600 flows, compiled with --target mermaid.
    Instead
        Compile one process of the model with --process, or use --target svg. On your own pages,
        raise both limits where Mermaid is initialised.
    """

    code = "OF496"
    name = "large-chart"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "mermaid"
