"""Agents: propose fills for gaps."""
