"""Requests to the provider, with limits on the time and the size of a response.

Each exchange runs in its own thread. At the deadline it is abandoned, and its connection cut
(``app.outbound.line``).
"""

from __future__ import annotations

import ssl
import threading
from concurrent.futures import Future
from typing import Final

import httpx2

from app.outbound.line import Line
from app.policy.single_sign_on import REQUEST_SECONDS, RESPONSE_BYTES

_PLAIN: Final = "identity"


class LimitedTransport(httpx2.BaseTransport):
    """Sends each request within REQUEST_SECONDS, and reads at most RESPONSE_BYTES of a response."""

    def __init__(self) -> None:
        self._tls = ssl.create_default_context()

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request and read the whole response.

        Raises:
            httpx2.HTTPError: there is no response in time, or it is too large.
        """
        line, outcome = Line(), Future[httpx2.Response]()
        line.watch(request)
        # A small response could unfold into a large one.
        request.headers["Accept-Encoding"] = _PLAIN
        try:
            arguments = (request, outcome)
            threading.Thread(target=self._exchange, args=arguments, daemon=True).start()
            return outcome.result(REQUEST_SECONDS)
        except TimeoutError:
            raise httpx2.ReadTimeout("no response in time", request=request) from None
        finally:
            line.cut()

    def _exchange(self, request: httpx2.Request, outcome: Future[httpx2.Response]) -> None:
        """Send a request and read its response, in its own thread."""
        try:
            with httpx2.HTTPTransport(verify=self._tls, trust_env=False) as transport:
                outcome.set_result(_read(transport.handle_request(request)))
        except httpx2.HTTPError as error:
            outcome.set_exception(error)
        except Exception as error:  # whatever a server can make of a library
            outcome.set_exception(httpx2.RemoteProtocolError(type(error).__name__))


def _read(response: httpx2.Response) -> httpx2.Response:
    if response.headers.get("Content-Encoding", _PLAIN).lower() != _PLAIN:
        raise httpx2.DecodingError("a compressed response")
    body = bytearray()
    for piece in response.iter_raw():
        body += piece
        if len(body) > RESPONSE_BYTES:
            raise httpx2.RemoteProtocolError("too long a response")
    return httpx2.Response(response.status_code, headers=response.headers, content=bytes(body))
