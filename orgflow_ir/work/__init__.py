"""The work of tasks that a model defines in expressions: mappings, scripts, decisions."""
