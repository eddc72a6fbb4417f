"""Constructs that n8n supports, and what they become before a workflow is emitted."""
