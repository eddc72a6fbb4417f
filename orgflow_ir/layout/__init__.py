"""Drawings of models: layout from left to right, what the source drew kept."""

from __future__ import annotations

from orgflow_ir.layout.keep import drawn

__all__ = ["drawn"]
