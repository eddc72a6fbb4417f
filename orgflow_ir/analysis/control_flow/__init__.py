"""The control flow of a scope as a graph, and its structure."""
