"""Programs as JavaScript: expressions, decision tables and checks of operands, for any target."""
