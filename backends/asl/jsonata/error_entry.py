"""The entry of the result of a program that holds the error of the process with which it ended."""

from __future__ import annotations

THROWN = "orgflow.error"
"""The name of the entry, an object with `code` and `message`. No variable has a name with a
point."""

MAX_ERROR = 200
"""Maximum length of the name of an error; Step Functions accepts 256 characters."""
