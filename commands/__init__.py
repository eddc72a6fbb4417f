"""Commands of the command line, loaded when they are used."""
