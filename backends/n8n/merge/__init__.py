"""Three-way merge: what a person made of a workflow, and what became of its model since."""
