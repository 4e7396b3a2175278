"""An OpenID Connect provider that lies in every way it is told to."""

from __future__ import annotations

import contextlib
import itertools
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey

_numbers = itertools.count(1)
ANYBODY: dict[str, Any] = {}
CLIENT_ID = "canopy"
CLIENT_SECRET = "a secret of the tests"
Answer = Callable[["BaseHTTPRequestHandler"], None]


class FakeProvider:
    """A provider whose every answer can be replaced.

    Attributes:
        metadata, keys, claims, header: what it says; a claim that is None is left out.
        key: signs the tokens.
        answers: replaces the whole answer at a path.
        asked: the paths and the forms of requests, in their order.
    """

    def __init__(self, issuer: str) -> None:
        self.issuer = issuer
        self.key: Any = RSAKey.generate_key(2048, {"kid": "first", "use": "sig"})
        self.is_right()

    def is_right(self) -> None:
        """Tell the truth from now on."""
        self.metadata: dict[str, Any] = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/auth",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
        }
        self.keys: Any = {"keys": [self.key.as_dict(private=False)]}
        self.header: dict[str, Any] = {"alg": "RS256", "kid": self.key.kid}
        self.claims: dict[str, Any] = {}
        self.token: dict[str, Any] = {}
        self.signer: Any = None  # another key
        self.answers: dict[str, Answer] = {}
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.over = threading.Event()

    @property
    def settings(self) -> dict[str, Any]:
        return {
            "oidc_issuer": self.issuer,
            "oidc_client_id": CLIENT_ID,
            "oidc_client_secret": CLIENT_SECRET,
            "oidc_name": "Green Woods",
        }

    def sign_in(self, address: str, person: dict[str, Any] | None = ANYBODY, **claims: Any) -> str:
        """Where it sends a browser back to.

        Args:
            person: all claims of who signs in; None: they cancel.
            claims: in place of those of somebody new.
        """
        query = dict(parse_qsl(urlsplit(address).query))
        back, state = query["redirect_uri"], query["state"]
        if person is None:
            return f"{back}?error=access_denied&state={state}"
        nobody = {"email": None, "email_verified": None} if person else {}
        self.claims = {"nonce": query["nonce"]} | nobody | person | claims
        return f"{back}?code=a-code&state={state}"

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer a request as it is told to."""
        path = urlsplit(handler.path).path
        length = int(handler.headers.get("Content-Length") or 0)
        form = dict(parse_qsl(handler.rfile.read(length).decode()))
        self.asked.append((path, form))
        answer = self.answers.get(path) or gives(self._truth(path))
        answer(handler)

    def _truth(self, path: str) -> Any:
        if path == "/token":
            response = {"access_token": "x", "token_type": "Bearer", "id_token": self.id_token()}
            return response | self.token
        return self.keys if path == "/keys" else self.metadata

    def id_token(self) -> str:
        """The ID token with the claims of now."""
        moment = int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": CLIENT_ID,
            "sub": f"somebody-{next(_numbers)}",
            "iat": moment,
            "exp": moment + 60,
            "email": f"{next(_numbers)}-{id(self)}@woods.example",
            "email_verified": True,
        } | self.claims
        said = {name: value for name, value in claims.items() if value is not None}
        algorithm = self.header["alg"]
        return jwt.encode(self.header, said, self.signer or self.key, algorithms=[algorithm])


def gives(content: Any, status: int = 200, **headers: str) -> Answer:
    """An answer in JSON, or of bytes as they are."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        handler.send_response(status)
        for name, value in ({"Content-Type": "application/json"} | headers).items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def shared_secret() -> OctKey:
    """A key that this service knows too."""
    return OctKey.import_key(CLIENT_SECRET)


@contextmanager
def fake_provider() -> Iterator[FakeProvider]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            with contextlib.suppress(OSError):  # it was cut off
                made.answer(self)

        do_POST = do_GET

        def log_message(self, format: str, *args: Any) -> None:
            """Do not log."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        made = FakeProvider(f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield made
        finally:
            made.over.set()
            server.shutdown()
            thread.join()
