"""The address of a server and its key, as users enter them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TextIO
from urllib.parse import urlsplit

from orgflow.backends.n8n.server.client.errors import place_of

from orgflow_ir.plugins.engines import AccessError, looks_like_server

KEY_VARIABLE = "N8N_API_KEY"

_PRINTABLE = re.compile(r"[\x21-\x7e]+")
_LONGEST = 10_000
_QUOTES = "\"'<>"
_PAGES = frozenset(
    {
        "api", "credentials", "executions", "forgot-password", "form", "form-test", "home",
        "insights", "mcp", "personal", "projects", "rest", "settings", "setup", "shared", "signin",
        "signup", "templates", "variables", "webhook", "webhook-test", "webhook-waiting",
        "workflow", "workflows",
    }
)  # fmt: skip
"""Path prefixes of n8n's own pages and interfaces."""


def server_urls(text: str) -> tuple[str, ...]:
    """The possible addresses of a server for an input, the likeliest first: a pasted address ends
    with a page of n8n's editor, which may also be n8n's own path prefix.

    Raises:
        AccessError: it is not the address of a web server.
    """
    text = text.strip().strip(_QUOTES).strip()
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise AccessError(f"`{place_of(text)}` is not the address of a server") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise AccessError(f"`{place_of(text)}` is not the address of a server, {_such_as(text)}")
    if parts.username is not None or parts.password is not None:
        raise AccessError("a password in the address would appear in logs; use only the API key")
    if not parts.hostname.isascii() or not _PRINTABLE.fullmatch(parts.hostname):
        raise AccessError(f"`{place_of(text)}` is not the address of a server")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    root = f"{parts.scheme}://{host}{f':{port}' if port else ''}"
    words = [word for word in parts.path.split("/") if word]
    page = next((at for at, word in enumerate(words) if word in _PAGES), len(words))
    paths = dict.fromkeys("".join(f"/{word}" for word in some) for some in (words[:page], words))
    return tuple(f"{root}{path}" for path in paths)


def _such_as(text: str) -> str:
    if looks_like_server(text):
        return f"which begins with http:// or https://: did you mean http://{text}?"
    return "such as https://n8n.example.com"


def api_key(
    file: str | None, standard_input: TextIO, environment: Mapping[str, str] = os.environ
) -> str:
    """The key from a file (`-` is standard input), otherwise from N8N_API_KEY.

    Raises:
        AccessError: there is none, the file cannot be read, or its content is not a key.
    """
    if file is None:
        text, where = environment.get(KEY_VARIABLE, ""), KEY_VARIABLE
        if not text.strip():
            raise AccessError(
                f"there is no API key: set {KEY_VARIABLE}, or name a file with --key-file"
            )
    elif file == "-":
        text, where = standard_input.read(_LONGEST), "standard input"
    else:
        where = file
        try:
            with Path(file).open(encoding="utf-8") as opened:
                text = opened.read(_LONGEST)
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not a text file"
            raise AccessError(f"the key file {file} cannot be read: {reason.lower()}") from None
    key = text.strip().strip(_QUOTES)
    if not _PRINTABLE.fullmatch(key):
        raise AccessError(f"the content of {where} cannot be an API key")
    return key
