"""`LazyModule`: a module that is imported when it is first used.

A module names what it imports at its top. A few modules serve only some inputs or options: a faulty
model, a rare construct, a server, a language model. Each import costs every start of the program
about a third of a millisecond, some cost seconds. They stand at the top too, under `TYPE_CHECKING`
for types and as lazy modules otherwise, with the reason once:

    if TYPE_CHECKING:
        from orgflow.commands import report
    else:  # with --report only
        report = LazyModule("orgflow.commands.report")

Functions use `report.write_page(…)`. `tests/test_rooms.py` checks that both lines name the same
module, and counts each lazy module as an import.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


class LazyModule:
    """Stands for a module; its attributes are those of the module.

    After the first use it shares the namespace of the module, so that further uses cost what
    attributes of any object cost, and a replaced attribute of the module is seen.
    """

    __slots__ = ("__dict__", "_module_name")

    def __init__(self, name: str) -> None:
        self._module_name = name

    def __getattr__(self, attribute: str) -> Any:
        """Called for an attribute that is not in the namespace, so at the first use.

        Raises:
            AttributeError: the module has no such attribute.
            ImportError: there is no such module.
        """
        module = import_module(self._module_name)
        self.__dict__ = module.__dict__
        return getattr(module, attribute)
