"""The process IR, its semantics, and the contracts of plugins."""
