"""Steps that may run, and waits that may be open, at the same time."""
