"""Drawings of models: layout from left to right, what the source drew kept.

`keep.drawn` draws a model. The package imports nothing by itself: a compile to workflows uses only
the stacking.
"""
