"""Three-way merge: a workflow edited by a person, and the current output for its model."""
