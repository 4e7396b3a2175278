"""The account of each token that this process has seen, for the web server: accounts take turns
there before the application reads their requests. It decides nothing else."""

from __future__ import annotations

from typing import Final

_MOST: Final = 10_000

_accounts: dict[str, str] = {}


def note_account(token_hash: str, account_id: str) -> None:
    """Note whose a valid token is."""
    if len(_accounts) >= _MOST and token_hash not in _accounts:
        _accounts.clear()
    _accounts[token_hash] = account_id


def account_of(token_hash: str) -> str | None:
    """The account, or None if the token is not known here."""
    return _accounts.get(token_hash)
