"""Fifty labels of a model that mean something in Markdown or HTML."""

from __future__ import annotations

LABELS = [
    "![x](https://evil.example/a.png)", "![](//evil.example/b.gif)",
    "[click](https://evil.example/c)", "[x]: https://evil.example/d", "[orgflow]: # (x)",
    "<https://evil.example/e>", "https://evil.example/f", "www.evil.example", "mail@evil.example",
    "<mail@evil.example>", "<img src=https://evil.example/g>", "<img src=x onerror=alert(1)>",
    "<script>alert(1)</script>", "<iframe src=https://evil.example/h></iframe>", "<b>bold</b>",
    "<!-- hidden -->", "<a href=\"javascript:alert(1)\">x</a>", "&lt;b&gt;", "&amp;",
    "&#60;img&#62;", "@[youtube](dQw4w9WgXcQ)", "@[vimeo](1)", "*emphasis*", "_emphasis_",
    "**strong**", "__strong__", "~~gone~~", "==marked==", "`code`", "``` fence", "~~~ fence",
    "# heading", "###### heading ######", "> quote", "- item", "+ item", "1. item", "1) item",
    "- [ ] open", "- [x] done", "---", "***", "a === b", "| a | b |", ":smile:",
    "(c) (tm) ... -- ;) 8-)", "\\*escaped\\*", "trailing\\", "a $x^2$ b", "{{ $json.x }}",
]  # fmt: skip
