"""One parser per language, all with the same tokens and precedences (`core`)."""
