"""The address of a server and the key for it, as people give them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TextIO
from urllib.parse import urlsplit

from orgflow.backends.n8n.server.answers import place_of

KEY_VARIABLE = "N8N_API_KEY"

_PRINTABLE = re.compile(r"[\x21-\x7e]+")
_LONGEST = 10_000
_TAILS = ("/api/v1", "/home/workflows", "/workflows", "/home")


class AccessError(ValueError):
    """An address or a key that cannot be one; the text never holds the key."""


def server_url(text: str) -> str:
    """The address of a server from what was typed: also n8n's API or its start page.

    Raises:
        AccessError: it is no address of a web server.
    """
    try:
        parts = urlsplit(text.strip())
        port = parts.port
    except ValueError:
        raise AccessError(f"`{place_of(text)}` is not the address of a server") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise AccessError(
            f"`{place_of(text)}` is not the address of a server, such as https://n8n.example.com"
        )
    if parts.username is not None or parts.password is not None:
        raise AccessError("a password in the address would end up in logs; use the API key alone")
    if not parts.hostname.isascii() or not _PRINTABLE.fullmatch(parts.hostname):
        raise AccessError(f"`{place_of(text)}` is not the address of a server")
    path = parts.path.rstrip("/")
    for tail in _TAILS:
        if path.endswith(tail):
            path = path.removesuffix(tail)
            break
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}{f':{port}' if port else ''}{path}"


def api_key(
    file: str | None, standard_input: TextIO, environment: Mapping[str, str] = os.environ
) -> str:
    """The key from a file (`-` is standard input), else from N8N_API_KEY.

    Raises:
        AccessError: there is none, the file cannot be read, or what it holds cannot be a key.
    """
    if file is None:
        text, where = environment.get(KEY_VARIABLE, ""), KEY_VARIABLE
        if not text.strip():
            raise AccessError(
                f"there is no API key: set {KEY_VARIABLE}, or name a file by --key-file"
            )
    elif file == "-":
        text, where = standard_input.read(_LONGEST), "standard input"
    else:
        where = file
        try:
            with Path(file).open(encoding="utf-8") as opened:
                text = opened.read(_LONGEST)
        except (OSError, UnicodeDecodeError) as error:
            said = getattr(error, "strerror", None) or "not a text file"
            raise AccessError(f"the key file {file} cannot be read: {said.lower()}") from None
    key = text.strip()
    if not _PRINTABLE.fullmatch(key):
        raise AccessError(f"what {where} holds cannot be an API key")
    return key
