"""Diagrams of models: layout from left to right, keeping the shapes of the source.

`keep.drawn` draws a model. The package itself imports nothing, because a compile to workflows uses
only the stacking.
"""
