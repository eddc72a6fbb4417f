"""Answers of agents to gaps: calls of agents, checks of their answers and of their evidence."""
