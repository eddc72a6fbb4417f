"""Control flow: its graph, concurrency, token game and soundness."""
