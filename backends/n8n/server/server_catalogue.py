"""The catalogue of a running n8n, which sends its node types to logged-in users.

n8n's public API has no route for node types, and `/types/nodes.json`, which the editor reads,
accepts a login and no API key. The result is kept in the user's cache folder, readable by the user
only, so that later commands need no login.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orgflow.backends.n8n.catalogue.node_catalogue import N8nCatalogue, make_catalogue
from orgflow.backends.n8n.server.client.credentials import server_urls
from orgflow.backends.n8n.server.client.errors import NotN8nError, RefusedError, ServerError
from orgflow.backends.n8n.server.client.workflows import WorkflowClient

from orgflow_ir.pipeline.operation_catalogue import CatalogueError
from orgflow_ir.plugins.engines import AccessError

if TYPE_CHECKING:
    from collections.abc import Mapping

EMAIL, PASSWORD = "N8N_EMAIL", "N8N_PASSWORD"

_SAVE = "or log in with a browser, save {url}/types/nodes.json and name that file"


def server_catalogue(
    address: str, environment: Mapping[str, str] = os.environ, folder: Path | None = None
) -> N8nCatalogue:
    """The catalogue of the server at an address: the current one if the environment has a login,
    otherwise the copy from the last time.

    Args:
        address: in the user's notation.
        environment: has `N8N_EMAIL` and `N8N_PASSWORD`.
        folder: the folder of copies; by default in the user's cache.

    Raises:
        CatalogueError: there is neither a login nor a copy, or the server does not send them.
    """
    try:
        urls = server_urls(address)
    except AccessError as error:
        raise CatalogueError(str(error)) from None
    kept = (folder or catalogue_folder()) / f"{_named_after(urls[0])}.json"
    email, password = environment.get(EMAIL, "").strip(), environment.get(PASSWORD, "")
    if not email or not password:
        return _read_kept(kept, urls[0])
    types, version = _read_types(urls, email, password)
    text = json.dumps(types, ensure_ascii=False, separators=(",", ":"))
    catalogue = make_catalogue(
        text.encode(), f"n8n {version} at {urls[0]}".replace("  ", " "), urls[0]
    )
    _keep_file(kept, text)
    return catalogue


def catalogue_folder() -> Path:
    """The folder of copies in the user's cache."""
    cache = os.environ.get("XDG_CACHE_HOME")
    base = Path(cache) if cache else Path.home() / ".cache"
    return base / "orgflow" / "catalogues"


def _named_after(url: str) -> str:
    return hashlib.blake2b(url.encode(), digest_size=8).hexdigest()


def _read_types(urls: tuple[str, ...], email: str, password: str) -> tuple[list[Any], str]:
    """Descriptions of node types and the version of n8n."""
    for at, url in enumerate(urls):
        try:
            with WorkflowClient(url) as client:
                client.login(email, password)
                return client.node_types(), client.version_text() or ""
        except NotN8nError as error:
            if at + 1 == len(urls):
                raise CatalogueError(str(error)) from None
        except RefusedError as error:
            if error.status == 404 and at + 1 < len(urls):
                continue
            reason = (
                f"{error}: {error.detail}"
                if error.detail and error.detail not in str(error)
                else str(error)
            )
            hint = ""
            if error.status in (401, 403):
                hint = f"; check {EMAIL} and {PASSWORD}, {_SAVE.format(url=url)}"
            raise CatalogueError(f"{reason}{hint}") from None
        except ServerError as error:
            raise CatalogueError(str(error)) from None
    raise AssertionError("there is at least one address")


def _read_kept(file: Path, url: str) -> N8nCatalogue:
    try:
        data = file.read_bytes()
        read = datetime.datetime.fromtimestamp(file.stat().st_mtime)
    except FileNotFoundError:
        raise CatalogueError(
            f"n8n returns its node types only after a login: set {EMAIL} and {PASSWORD}, "
            f"{_SAVE.format(url=url)}"
        ) from None
    except OSError as error:
        raise CatalogueError(f"{file} cannot be read: {error.strerror or error}") from None
    return make_catalogue(data, f"n8n at {url}, as read on {read:%Y-%m-%d}", str(file))


def _keep_file(file: Path, text: str) -> None:
    """Written beside and moved there, since two commands may do it at once."""
    written = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with open(
            os.open(written, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8"
        ) as out:
            out.write(text)
        written.replace(file)
    except OSError as error:
        raise CatalogueError(f"{file} cannot be written: {error.strerror or error}") from None
    finally:
        written.unlink(missing_ok=True)
