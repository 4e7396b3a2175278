"""Functions of the service replaced by others, with a proof that the others were called.

A replacement that no longer fits what it replaces would be measured all the same: one that takes
other arguments answers with errors, and one that nobody calls changes nothing. So it must take the
arguments of the original, and the server tells which replacements were never called.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable
from typing import Any, Final

from flask import Flask, jsonify

from bench.wire import build, connect, fetch

UNUSED: Final = "/bench/unused"  # answers with the names of the replacements never called

_calls: Final[dict[str, int]] = {}


def replace(owner: Any, name: str, replacement: Callable[..., Any]) -> None:
    """Put a replacement in the place of a function of a module or a method of a class.

    Raises:
        SystemExit: there is no such function, or it takes other arguments.
    """
    label = f"{getattr(owner, '__name__', owner)}.{name}"
    original = getattr(owner, name, None)
    if not callable(original):
        raise SystemExit(f"There is no function {label} to replace.")
    wanted, given = _parameters(original), _parameters(replacement)
    if wanted != given:
        raise SystemExit(f"{label} takes {wanted}; its replacement takes {given}.")
    _calls[label] = 0

    def counted(*args: Any, **named: Any) -> Any:
        _calls[label] += 1
        return replacement(*args, **named)

    setattr(owner, name, counted)


def remembered(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that is called once for the same arguments, with the signature of the original."""
    known: dict[Any, Any] = {}

    def remember(*args: Any) -> Any:
        if args not in known:
            known[args] = function(*args)
        return known[args]

    remember.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    return remember


def add_unused_route(app: Flask) -> None:
    """Give the application the route that tells which replacements were never called."""
    unused = lambda: jsonify([name for name, calls in _calls.items() if not calls])  # noqa: E731
    app.add_url_rule(UNUSED, "bench_unused", unused)


def check(port: int, request: bytes, gone: Iterable[str]) -> None:
    """See that a server's replacements are in use, after it has answered some requests.

    Args:
        gone: headers that the answer must not have; empty ones are left out.

    Raises:
        SystemExit: a replacement was never called, or a header is still there.
    """
    with connect(port) as connection:
        head, _ = fetch(connection, request)
        unused = json.loads(fetch(connection, build("GET", UNUSED, {}))[1])
    if unused:
        raise SystemExit(f"These replacements were never called: {unused}.")
    for name in filter(None, gone):
        if f"\r\n{name.lower()}:".encode() in head.lower():
            raise SystemExit(f"The answers still have the header {name}.")


def _parameters(function: Callable[..., Any]) -> list[tuple[str, bool]]:
    """How many arguments a function takes, and of which kinds: what a call can tell apart."""
    return [
        (str(each.kind), each.default is not each.empty)
        for each in inspect.signature(function).parameters.values()
    ]
