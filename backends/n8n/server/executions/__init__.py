"""Executions on a server: start them, fetch them, read them."""
