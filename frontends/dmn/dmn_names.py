"""Namespaces of DMN."""

from __future__ import annotations

NAMESPACES = frozenset(
    {
        "http://www.omg.org/spec/DMN/20151101/dmn.xsd",
        "http://www.omg.org/spec/DMN/20151101/dmn11.xsd",
        "http://www.omg.org/spec/DMN/20180521/MODEL/",
        "https://www.omg.org/spec/DMN/20191111/MODEL/",
        "https://www.omg.org/spec/DMN/20211108/MODEL/",
        "https://www.omg.org/spec/DMN/20230324/MODEL/",
        "http://www.omg.org/spec/DMN/20151130",
    }
)  # fmt: skip
"""Namespaces of DMN 1.1, 1.2, 1.3, 1.4 and 1.5, and of the draft that older tools write."""
