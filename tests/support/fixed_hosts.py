"""Services whose addresses are fixed in n8n's nodes: a proxy that answers for them on this machine.

n8n calls `slack.com` or `graph.microsoft.com` wherever it runs. A server that is booted with the
`settings` of the proxy sends such calls to it; the proxy has a certificate for each host, made by a
certificate authority of its own that the server trusts for the time of the test.
"""

from __future__ import annotations

import datetime
import json
import ssl
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

Json = dict[str, Any]


class Called(NamedTuple):
    """A call of one of the services, with the content of its body."""

    method: str
    url: str
    headers: dict[str, str]
    body: Any


class FixedHosts:
    """The proxy. `answer` has the JSON of each answer; other hosts are refused.

    Args:
        folder: where the certificates are kept.
        hosts: the names that it answers for.
        answer: the answer to a call.
    """

    def __init__(
        self, folder: Path, hosts: tuple[str, ...], answer: Callable[[Called], Json]
    ) -> None:
        self.called: list[Called] = []
        self._authority = folder / "authority.pem"
        contexts = _contexts(folder, self._authority, hosts)
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_CONNECT(self) -> None:
                host = self.path.partition(":")[0]
                if host not in contexts:
                    self.send_error(403)
                    return
                self.send_response(200)
                self.end_headers()
                self.connection = contexts[host].wrap_socket(self.connection, server_side=True)
                self.rfile = self.connection.makefile("rb")
                self.wfile = self.connection.makefile("wb", buffering=0)
                self.close_connection = False
                self.host = host

            def handle_any(self) -> None:
                text = self.rfile.read(int(self.headers.get("content-length") or 0)).decode()
                headers = {name.lower(): value for name, value in self.headers.items()}
                try:
                    body = json.loads(text)
                except ValueError:
                    body = text
                one = Called(self.command, f"https://{self.host}{self.path}", headers, body)
                outer.called.append(one)
                answered = json.dumps(answer(one)).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(answered)))
                self.end_headers()
                self.wfile.write(answered)

            do_GET = do_POST = do_PATCH = handle_any

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def settings(self) -> dict[str, str]:
        """Environment variables of an n8n server that calls the services here."""
        place = f"http://127.0.0.1:{self._server.server_port}"
        return {
            "HTTPS_PROXY": place,
            "NO_PROXY": "127.0.0.1,localhost",
            "NODE_EXTRA_CA_CERTS": str(self._authority),
        }

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _contexts(
    folder: Path, authority: Path, hosts: tuple[str, ...]
) -> Mapping[str, ssl.SSLContext]:
    """What a TLS server needs for each host; the certificate of their issuer is written too."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    now = datetime.datetime.now(datetime.UTC)
    root = ec.generate_private_key(ec.SECP256R1())
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Authority of a test")])

    def certificate(name: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
        return (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(issuer)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(hours=1))
            .not_valid_after(now + datetime.timedelta(days=1))
        )

    constraints = x509.BasicConstraints(ca=True, path_length=None)
    own = certificate(issuer, root).add_extension(constraints, critical=True)
    pem = serialization.Encoding.PEM
    authority.write_bytes(own.sign(root, hashes.SHA256()).public_bytes(pem))
    found = {}
    for host in hosts:
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
        names = x509.SubjectAlternativeName([x509.DNSName(host)])
        made = certificate(name, key).add_extension(names, critical=False)
        private = key.private_bytes(
            pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        path = folder / f"{host}.pem"
        path.write_bytes(private + made.sign(root, hashes.SHA256()).public_bytes(pem))
        found[host] = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        found[host].load_cert_chain(path)
    return found
