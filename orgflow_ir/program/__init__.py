"""Programs: typed expressions and steps, their evaluation and simplification."""
