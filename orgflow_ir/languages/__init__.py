"""Expression languages: detection, and one parser per language."""
