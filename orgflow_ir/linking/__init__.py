"""Parts of a model in other files: called processes."""
