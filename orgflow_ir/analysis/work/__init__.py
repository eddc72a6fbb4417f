"""The work of tasks, as far as a model defines it in expressions: mappings, scripts, decisions."""
