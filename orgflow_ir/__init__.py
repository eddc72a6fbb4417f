"""The process IR, its semantics, and the contracts of plugins."""

import sys
from importlib.machinery import ModuleSpec


class _MovedNames:
    """Finds modules by the names that they had in the previous version."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Called after all other finders, so only for modules that do not exist."""
        if not name.startswith("orgflow_ir."):
            return None
        from orgflow_ir.moved_names import find_moved_module

        return find_moved_module(name)


sys.meta_path.append(_MovedNames)
