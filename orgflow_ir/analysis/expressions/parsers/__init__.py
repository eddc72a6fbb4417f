"""One parser a language, all over the same tokens and precedences (`core`)."""
