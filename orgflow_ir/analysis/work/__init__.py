"""What tasks do, as far as a model says it in expressions: mappings, scripts, decisions."""
