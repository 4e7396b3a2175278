"""The model of this instance, behind any server that speaks OpenAI's chat-completions protocol.

Importing openai costs half a second and 44 MB: ``create_app`` imports this module, and only where a
model is set.

The server is trusted with nothing but the questions. Each exchange runs in a thread of its own. At
the deadline it is given up, and its connection cut (``app.outbound.line``).
"""

from __future__ import annotations

import logging
import ssl
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any, Final

import openai
from flask import Flask

from app.chat.completion import ModelFailed
from app.chat.service import EXTENSION, Chat, Message, Slots, late
from app.outbound.line import Line
from app.policy import chat as policy
from app.values.deadline import Deadline
from app.values.version import VERSION
from config import Settings

_NO_KEY: Final = "none"  # what is sent to a server that asks for no key; the library wants one
# What a request carries. openai would add what it knows of this machine, and what OPENAI_*
# variables say. The last one is its note to itself, that the response is to be read in pieces.
_HEADERS: Final = frozenset(
    {"host", "accept", "accept-encoding", "connection", "content-length", "content-type"}
    | {"user-agent", "authorization", "x-stainless-raw-response"}
)


def init_app(app: Flask) -> None:
    """Give ``app`` the model of its settings; half of the threads may wait for it."""
    settings: Settings = app.config["SETTINGS"]
    for name in ("openai", "httpx2", "httpcore2"):  # they would log addresses and questions
        logging.getLogger(name).setLevel(logging.WARNING)
    slots = Slots(max(1, settings.web_threads // 2))
    app.extensions[EXTENSION] = Chat(OpenAIModel(settings), slots)


class OpenAIModel:
    """A model by its name, and the server that runs it."""

    def __init__(self, settings: Settings) -> None:
        self._base_url = settings.chat_base_url
        self._name = settings.chat_model or ""
        self._key = settings.chat_api_key or _NO_KEY
        self._tls = ssl.create_default_context()

    def ask(self, messages: Sequence[Message], tools: Sequence[Any], deadline: Deadline) -> bytes:
        """The body of the server's response, of at most ``policy.ANSWER_BYTES``.

        Raises:
            ModelFailed: there is no such response before the deadline.
        """
        line, outcome = Line(), Future[bytes]()
        question = {"messages": messages, "tools": tools}
        try:
            exchange = (question, deadline.left(), line, outcome)
            threading.Thread(target=self._exchange, args=exchange, name="chat", daemon=True).start()
            return outcome.result(deadline.left())
        except TimeoutError:
            raise late() from None
        finally:
            line.cut()

    def _exchange(
        self, question: dict[str, Any], left: float, line: Line, outcome: Future[bytes]
    ) -> None:
        """One question and its answer, in a thread of their own."""
        try:
            outcome.set_result(self._send(question, left, line))
        except ModelFailed as failure:
            outcome.set_exception(failure)
        except openai.APITimeoutError:
            outcome.set_exception(late())
        except Exception as error:  # whatever a server can make of a library
            kind = type(error.__cause__ or error).__name__
            message = (
                "The model's server cannot be reached, or closed the connection. Ask again later."
            )
            outcome.set_exception(ModelFailed(kind, message))

    def _send(self, question: dict[str, Any], left: float, line: Line) -> bytes:
        with openai.DefaultHttpxClient(
            verify=self._tls,
            trust_env=False,
            follow_redirects=False,
            event_hooks={"request": [_only_wanted, line.watch], "response": [_check_status]},
        ) as http:
            client = openai.OpenAI(
                base_url=self._base_url,
                api_key=self._key,
                max_retries=0,
                timeout=openai.Timeout(left, connect=min(left, policy.CONNECT_SECONDS)),
                http_client=http,
                default_headers={
                    "Accept-Encoding": "identity",
                    "Authorization": f"Bearer {self._key}",
                    "User-Agent": f"Canopy/{VERSION}",
                },
            )
            completions = client.chat.completions.with_streaming_response
            with completions.create(model=self._name, **question) as response:
                body = bytearray()
                for piece in response.iter_bytes():
                    body += piece
                    if len(body) > policy.ANSWER_BYTES:
                        message = "The model's reply is too long. Ask a narrower question."
                        raise ModelFailed("too long", message)
                return bytes(body)


def _only_wanted(request: Any) -> None:
    """Before a request is sent: leave out what nobody asked to send."""
    for name in set(request.headers) - _HEADERS:
        del request.headers[name]


def _check_status(response: Any) -> None:
    """Before a response is read: refuse one that is none. Raises ModelFailed."""
    if response.status_code != 200:
        message = "The model's server rejected the question, or failed. Ask again later."
        raise ModelFailed(f"status {response.status_code}", message)
    coding = response.headers.get("content-encoding", "identity")
    if coding.lower() != "identity":  # a small response could unfold into a large one
        raise ModelFailed("compressed", "The model's reply cannot be read. Ask again later.")
