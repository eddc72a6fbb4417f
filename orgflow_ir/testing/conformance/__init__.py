"""Conformance checks of `orgflow_ir.testing`; each function returns problems, one per line."""
