"""Names that generated JavaScript does not use."""

JS_WORDS = frozenset(
    {
        "break", "case", "catch", "class", "const", "continue", "debugger", "default", "delete",
        "do", "else", "enum", "export", "extends", "false", "finally", "for", "function", "if",
        "import", "in", "instanceof", "new", "null", "return", "super", "switch", "this", "throw",
        "true", "try", "typeof", "var", "void", "while", "with", "yield", "let", "static", "await",
    }
)  # fmt: skip
"""Words of JavaScript that are no names."""

NO_IDENTIFIERS = JS_WORDS | {
    "arguments", "eval", "implements", "interface", "package", "private", "protected", "public",
    "undefined", "Array", "BigInt", "Boolean", "Date", "Error", "Infinity", "JSON", "Math", "NaN",
    "Number", "Object", "String",
}  # fmt: skip
"""Words that generated code does not use as names of its own."""
