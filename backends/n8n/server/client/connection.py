"""Connections to a server: certificates, proxies, and readable reasons for failures."""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping
from urllib.request import getproxies, proxy_bypass

import httpx
from orgflow.backends.n8n.server.client.errors import ServerError

_HERE = ("127.0.0.1", "localhost", "::1")

# By what the libraries below say, which is not the same on every system.
_PLAIN = ("wrong_version_number", "record layer failure", "packet length too long", "http_request")
_UNTRUSTED = ("certificate_verify_failed", "certificate verify failed")
_NO_NAME = ("name or service not known", "nodename nor servname", "getaddrinfo failed",
            "no address associated", "name resolution")  # fmt: skip
_NOBODY = ("connection refused", "actively refused")


def load_certificates() -> ssl.SSLContext:
    """The trusted certificates; loading takes some 30 ms.

    Raises:
        ServerError: the file or folder in the environment contains none.
    """
    try:
        return httpx.create_ssl_context()
    except OSError as error:  # ssl's errors are some
        where = " or ".join(n for n in ("SSL_CERT_FILE", "SSL_CERT_DIR") if os.environ.get(n))
        reason = error.strerror or str(error)
        raise ServerError(f"the certificates of {where} cannot be read: {reason.lower()}") from None


def open_client(
    url: str, headers: Mapping[str, str], seconds: float, trust: ssl.SSLContext
) -> httpx.Client:
    """A client for one server; proxies of the environment do not apply to local servers.

    Raises:
        ServerError: the environment names a proxy that cannot be used.
    """
    mine = httpx.URL(url).host in _HERE
    try:
        return httpx.Client(timeout=seconds, headers=headers, trust_env=not mine, verify=trust)
    except (ImportError, ValueError) as error:
        reason = str(error).partition(". ")[0]
        raise ServerError(f"the proxy from the environment is not usable: {reason}") from None


def describe_failure(error: Exception, url: str) -> str:
    """The reason why a connection failed, in words; the library's own text if it is unknown."""
    text = str(error).strip()
    low = text.lower()
    secure = url.startswith("https:")
    if secure and any(words in low for words in _PLAIN):
        return f"the server does not use https; try http{url.removeprefix('https')}"
    if any(words in low for words in _UNTRUSTED):
        reason = low.rpartition("certificate verify failed: ")[2].partition(" (_ssl")[0]
        return (
            f"its certificate is not trusted ({reason}); if it is your own, set SSL_CERT_FILE to "
            "the file of your certificate authority"
        )
    if any(words in low for words in _NO_NAME):
        text = "this host does not exist"
    elif any(words in low for words in _NOBODY):
        text = "nothing listens there"
    elif not secure and "disconnected without" in low:
        return (
            "it closed the connection without an answer; if it uses https, the address begins "
            "with https://"
        )
    return f"{text or type(error).__name__}{_by_proxy(url)}"


def _by_proxy(url: str) -> str:
    """Words for the proxy that calls go through, without the password that it may be given by."""
    parts = httpx.URL(url)
    if parts.host in _HERE:
        return ""
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(parts.host):
        return ""
    return (
        f" (through the proxy {proxy.rpartition('@')[2].rpartition('//')[2]} from the environment)"
    )
