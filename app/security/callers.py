"""The accounts of the tokens that this process has seen. By them accounts take turns in the web
server, before the application reads a request; they decide nothing else."""

from __future__ import annotations

from typing import Final

_MAX_TOKENS: Final = 10_000

_accounts: dict[str, str] = {}


def note_account(token_hash: str, account_id: str) -> None:
    """Note the account of a valid token."""
    if len(_accounts) >= _MAX_TOKENS and token_hash not in _accounts:
        _accounts.clear()
    _accounts[token_hash] = account_id


def account_of(token_hash: str) -> str | None:
    """Return the account of a token, or None if this process has not seen it."""
    return _accounts.get(token_hash)
