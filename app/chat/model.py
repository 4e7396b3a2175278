"""The model of this instance, behind any server that speaks OpenAI's chat-completions protocol.

It gets the conversation, with the results of tools. Nothing that it answers is trusted.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Any, Final, NamedTuple

import orjson
from flask import Flask

from app.chat.completion import ModelFailed, deadline_passed
from app.outbound import Attempt, Egress, EgressError, TooLong
from app.policy import chat as policy
from app.values.deadline import Deadline
from app.values.version import VERSION
from config import Settings

EXTENSION: Final = "canopy_chat"

Message = dict[str, Any]  # of the chat-completions protocol

_NO_KEY: Final = "none"  # for servers that ask for no key
_UNREACHABLE: Final = (
    "The model's server cannot be reached, or closed the connection. Ask again later."
)
_REJECTED: Final = "The model's server rejected the question, or failed. Ask again later."
_TOO_LONG: Final = "The model's reply is too long. Ask a narrower question."


def init_app(app: Flask) -> None:
    """Give ``app`` the model of its settings; half of the threads may wait for it."""
    settings: Settings = app.config["SETTINGS"]
    slots = Slots(max(1, settings.web_threads // 2))
    app.extensions[EXTENSION] = Chat(RemoteModel(settings), slots)


class RemoteModel:
    """A model by its name, and the server that runs it."""

    def __init__(self, settings: Settings) -> None:
        self._url = f"{(settings.chat_base_url or '').rstrip('/')}/chat/completions"
        self._name = settings.chat_model
        self._headers = {
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "Authorization": f"Bearer {settings.chat_api_key or _NO_KEY}",
            "Content-Type": "application/json",
            "User-Agent": f"Canopy/{VERSION}",
        }
        self._egress = Egress(for_operator=True)

    def ask(self, messages: Sequence[Message], tools: Sequence[Any], deadline: Deadline) -> bytes:
        """Send a conversation. Returns the body of the response, at most ``policy.ANSWER_BYTES``.

        Raises:
            ModelFailed: there is no valid response before the deadline.
        """
        question = orjson.dumps({"model": self._name, "messages": messages, "tools": tools})
        attempt = Attempt(deadline, policy.CONNECT_SECONDS)
        try:
            with self._egress.request(
                "POST", self._url, self._headers, question, attempt=attempt
            ) as response:
                if response.status != 200:
                    raise ModelFailed(f"status {response.status}", _REJECTED)
                return response.read(policy.ANSWER_BYTES)
        except TooLong:
            raise ModelFailed("too long", _TOO_LONG) from None
        except EgressError as error:
            if error.is_timeout:
                raise deadline_passed() from None
            raise ModelFailed(str(error), _UNREACHABLE) from None
        except ValueError:
            raise ModelFailed("CHAT_API_KEY cannot be sent", _UNREACHABLE) from None


class Slots:
    """Limits the concurrent conversations of a process, to one for each account."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._accounts: set[str] = set()
        self._lock = Lock()

    def acquire(self, account_id: str) -> bool:
        """Reserve a slot for an account. Returns False if none is free, or the account has one."""
        with self._lock:
            if account_id in self._accounts or len(self._accounts) >= self._number:
                return False
            self._accounts.add(account_id)
            return True

    def release(self, account_id: str) -> None:
        with self._lock:
            self._accounts.remove(account_id)


class Chat(NamedTuple):
    """The model of this instance, and its slots."""

    model: RemoteModel
    slots: Slots
