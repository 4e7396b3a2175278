"""Requests of a client that accepts compressed answers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.contract import decoded
from tests.make.accounts import Client

CODINGS = ["gzip", "zstd"]
each_coding = pytest.mark.parametrize("coding", CODINGS)


def get_coded(client: Client, path: str, accepted: str | None, **headers: str) -> TestResponse:
    """An answer to a client that sends this ``Accept-Encoding``."""
    if accepted is not None:
        headers["Accept-Encoding"] = accepted
    return client.get(path, headers=headers)


def body_of(response: TestResponse) -> bytes:
    return decoded(response.get_data(), response.headers.get("Content-Encoding"))


def data_of(response: TestResponse) -> Any:
    return json.loads(body_of(response))["data"]


def tag_for(tag: str, coding: str) -> str:
    """The entity tag of the compressed answer, from that of the plain one."""
    return f'{tag[:-1]}-{coding}"'
