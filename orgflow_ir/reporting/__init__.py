"""Reporting: diagnostics as text, JSON, SARIF and GitHub annotations; suppressed diagnostics."""
