"""Commands of the command line, one module each, loaded when they are used."""
