"""The verifier in the documentation, which knows nothing of the service."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from cryptography.exceptions import InvalidSignature

from config import ROOT
from tests.audit.log.logs import PATH, checkpoints, exported, points, prune, seal, sealed_log
from tests.make import Client

Verify = Callable[[list[bytes], str], tuple[int, str, str | None]]
_LINES = 52


@pytest.fixture
def verify() -> Verify:
    page = (ROOT / "docs/audit-log.md").read_text()
    (source,) = re.findall(r"<!-- a verifier.*?-->\n```python\n(.*?)```", page, re.DOTALL)
    assert len(source.splitlines()) <= _LINES
    names: dict[str, Any] = {"__name__": "verifier"}
    exec(compile(source, "docs/audit-log.md", "exec"), names)
    found: Verify = names["verify"]
    return found


def key_of(client: Client) -> str:
    used = checkpoints(client)[-1].key_id
    keys = client.get(f"{PATH}/keys").json["data"]
    (key,) = (key["public_key"] for key in keys if key["id"] == used)
    return str(key)


def test_it_accepts_what_nobody_changed(
    client: Client, monkeypatch: pytest.MonkeyPatch, verify: Verify
) -> None:
    sealed_log(client, monkeypatch)
    newest = client.get(f"{PATH}/checkpoints?per_page=1").json["data"][0]
    assert verify(exported(client), key_of(client)) == (newest["number"], newest["hash"], None)
    prune(client, monkeypatch, [1])
    with pytest.raises(AssertionError, match="records the deletion"):
        verify(exported(client), key_of(client))
    seal(client, monkeypatch)
    number, _, until = verify(exported(client), key_of(client))
    assert (number, until) == (newest["number"] + 1, points(client)[0].sealed_at)


def _without_batch(lines: list[bytes], number: int) -> list[bytes]:
    """The file without the entries of a checkpoint, which says that they were deleted by age."""
    left, is_inside = list[bytes](), False
    for line in lines:
        record = json.loads(line)
        if point := record.get("checkpoint"):
            is_inside = point["number"] == number
            line = json.dumps(
                {"checkpoint": {**point, **({"entry_hashes": None} if is_inside else {})}}
            ).encode()
        is_inside = is_inside and "not_sealed" not in record
        if not is_inside or len(record) == 1:
            left.append(line)
    return left


def test_it_finds_each_change(
    client: Client, monkeypatch: pytest.MonkeyPatch, verify: Verify
) -> None:
    made = sealed_log(client, monkeypatch)
    lines, key = exported(client), key_of(client)
    place = next(at for at, line in enumerate(lines) if made[6].encode() in line)
    changed = lines[place].replace(b"Hood", b"Mood")
    end = next(at for at, line in enumerate(lines) if line.startswith(b'{"not_sealed"'))
    hidden = b'{"not_sealed":{},' + changed[1:]
    swapped = [*lines[:place], lines[place + 1], lines[place], *lines[place + 2 :]]
    for wrong in (
        [*lines[:place], changed, *lines[place + 1 :]],
        [*lines[:place], *lines[place + 1 :]],
        [*lines[:place], lines[place], *lines[place:]],
        swapped,
        [line.replace(b'"last":', b'"last":1') for line in lines],
        [*lines[:place], hidden, *lines[place:]],
        [*lines[:end], hidden, *lines[end:]],
        lines[:place],
        lines[:end],
        lines[:-1],
        [*lines, lines[-1]],
        [lines[0].replace(client.account_id.encode(), b"acct_x"), *lines[1:]],
        _without_batch(lines, 1),
        _without_batch(lines, 2),
    ):
        with pytest.raises((AssertionError, InvalidSignature)):
            verify(wrong, key)
    with pytest.raises(InvalidSignature):
        verify(lines, "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=")
