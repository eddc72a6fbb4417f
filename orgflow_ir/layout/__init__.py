"""Diagrams of models: layout from left to right, keeping the shapes of the source.

`keep.drawn` draws a model. The package imports nothing by itself: a compile to workflows uses only
the stacking.
"""
