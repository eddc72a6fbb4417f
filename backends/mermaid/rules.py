"""The rule of the Mermaid backend."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class LargeChart(Rule):
    """
    What it finds
        A flowchart with more than 500 links or 50,000 characters.
    Why it is wrong
        Mermaid draws no chart beyond its `maxEdges` and `maxTextSize`: pages with the usual
        settings (GitHub, GitLab, most wikis) show an error in its place.
    Example
        A process with 600 flows, compiled with --target mermaid.
    Instead
        Compile one process of the model with --process, or take --target svg; on a page of your
        own, raise the two limits where Mermaid is initialised.
    """

    code = "OF496"
    name = "large-chart"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "mermaid"
