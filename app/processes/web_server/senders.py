"""Who sent a request, as far as its head tells: senders take turns.

It is the account of a token in the head, once the application has accepted that token, or else the
address of the client: neither more keys nor made-up ones, cookies or headers are more senders.
"""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from contextlib import suppress
from itertools import islice
from typing import Final

from app.http.proxies import forwarded_address
from app.security.callers import account_of
from app.security.tokens import ANY_TOKEN, hash_token

_BASIC: Final = re.compile(rb"\r\nauthorization:[ \t]*basic[ \t]+([^\r]*)", re.IGNORECASE)
_FORWARDED: Final = re.compile(rb"\r\nx-forwarded-for:([^\r]*)", re.IGNORECASE)
_MOST_TOKENS: Final = 3  # of a head that are looked up


def sender_of(head: bytes, peer: str, proxies: int) -> str:
    """The id of an account, or an address.

    Args:
        head: the request's, with the end of its last line.
        peer: the address of the connection.
        proxies: how many trusted ones are in front.
    """
    text = head
    if basic := _BASIC.search(head):
        with suppress(binascii.Error):
            text += b64decode(basic[1])
    for token in islice(ANY_TOKEN.finditer(text), _MOST_TOKENS):
        if account_id := account_of(hash_token(token[0].decode())):
            return account_id
    if not proxies:
        return peer
    return forwarded_address(b",".join(_FORWARDED.findall(head)).decode("latin-1"), proxies)
