"""`lazy_pattern`: a regular expression that is compiled when it is first used.

To compile one takes about 0.1 ms, a third of an import. Patterns that only some inputs need, in
modules that every start loads, are lazy.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


def lazy_pattern(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """What `re.compile` returns, for the use of its methods and attributes.

    The functions of `re` do not take it. A faulty pattern is found by its first use.
    """
    return cast("re.Pattern[AnyStr]", _LazyPattern(pattern, flags))


class _LazyPattern:
    """Each method of the pattern stays as an attribute after its first use."""

    __slots__ = ("__dict__", "_pattern")

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self._pattern = pattern, flags

    def __getattr__(self, attribute: str) -> Any:
        """Called for an attribute that is not yet in the namespace.

        Raises:
            AttributeError: patterns have no such attribute.
            re.error: the pattern is faulty.
        """
        pattern, flags = self._pattern
        value = getattr(re.compile(pattern, flags), attribute)
        self.__dict__[attribute] = value
        return value
