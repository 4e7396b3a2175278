"""Responses of the model's server in the chat-completions protocol, and how they can fail."""

from __future__ import annotations

from typing import Any, NamedTuple

import orjson


class ModelFailed(Exception):
    """The model gave no usable response.

    ``kind`` is for the log: a few words without anything of the conversation. ``message`` is for
    the caller.
    """

    def __init__(self, kind: str, message: str) -> None:
        self.kind = kind
        self.message = message
        super().__init__(kind)


def late() -> ModelFailed:
    """The error when the deadline has passed."""
    message = "The model did not reply in time. Ask again, or ask a narrower question."
    return ModelFailed("too late", message)


class Call(NamedTuple):
    """A tool that the model wants called; ``arguments`` is JSON as the model wrote it, or not."""

    id: str
    name: str
    arguments: str


class Completion(NamedTuple):
    """One message of the model: a reply, or calls of tools."""

    text: str
    calls: list[Call]


def read_completion(body: bytes) -> Completion:
    """The message in a response of the model's server.

    Raises:
        ModelFailed: the response is not JSON, or has another form.
    """
    try:
        message = orjson.loads(body)["choices"][0]["message"]
        text, calls = message.get("content"), message.get("tool_calls")
        if not isinstance(text, str | None) or not isinstance(calls, list | None):
            raise TypeError
        return Completion(text or "", [_call(call, n) for n, call in enumerate(calls or [], 1)])
    except (ValueError, LookupError, TypeError, AttributeError):
        message = "The model's reply cannot be read. Ask again later."
        raise ModelFailed("malformed", message) from None


def _call(call: Any, number: int) -> Call:
    """A call in a response; local servers may leave its id out."""
    name, arguments = call["function"]["name"], call["function"].get("arguments") or ""
    if not isinstance(name, str) or not isinstance(arguments, str):
        raise TypeError
    given = call.get("id")
    return Call(given if given and isinstance(given, str) else f"call_{number}", name, arguments)
