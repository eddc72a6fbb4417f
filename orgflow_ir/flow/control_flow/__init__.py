"""The control flow of a scope as a graph, calls and signals."""
