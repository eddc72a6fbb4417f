"""Metrics and benchmark drivers."""
