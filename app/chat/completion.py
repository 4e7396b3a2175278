"""Responses of the model's server in the chat-completions protocol."""

from __future__ import annotations

from typing import Any, NamedTuple

import orjson


class ModelFailed(Exception):
    """The model gave no usable response.

    ``kind`` is for the log, without anything of the conversation; ``message`` is for the caller.
    """

    def __init__(self, kind: str, message: str) -> None:
        self.kind = kind
        self.message = message
        super().__init__(kind)


def deadline_passed() -> ModelFailed:
    """Return the error for a passed deadline."""
    message = "The model did not reply in time. Ask again, or ask a narrower question."
    return ModelFailed("too late", message)


class ToolCall(NamedTuple):
    """A call of a tool that the model asks for. ``arguments`` should be JSON."""

    id: str
    name: str
    arguments: str


class Completion(NamedTuple):
    """A message of the model: a reply, or calls of tools."""

    text: str
    calls: list[ToolCall]


def read_completion(body: bytes) -> Completion:
    """Read the message in a response of the model's server.

    Raises:
        ModelFailed: the response is not JSON, or has another form.
    """
    try:
        message = orjson.loads(body)["choices"][0]["message"]
        text, calls = message.get("content"), message.get("tool_calls")
        if not isinstance(text, str | None) or not isinstance(calls, list | None):
            raise TypeError
        return Completion(
            text or "", [_tool_call(call, n) for n, call in enumerate(calls or [], 1)]
        )
    except (ValueError, LookupError, TypeError, AttributeError):
        message = "The model's reply cannot be read. Ask again later."
        raise ModelFailed("malformed", message) from None


def _tool_call(call: Any, number: int) -> ToolCall:
    """Read a call in a response; local servers may leave its id out."""
    name, arguments = call["function"]["name"], call["function"].get("arguments") or ""
    if not isinstance(name, str) or not isinstance(arguments, str):
        raise TypeError
    call_id = call.get("id")
    if not call_id or not isinstance(call_id, str):
        call_id = f"call_{number}"
    return ToolCall(call_id, name, arguments)
