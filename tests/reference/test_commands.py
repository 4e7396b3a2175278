"""Each command of the reference page works when it is pasted into a terminal."""

from __future__ import annotations

import os
import re
import shutil
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.imports.schemas import ImportCreateSchema
from tests.api.operations import FILLERS, Ids, Operation, described, operations, prepare
from tests.api.server import Server, gunicorn
from tests.captured import captured
from tests.make import Client, make_account
from tests.make.features import collection, feature
from tests.node import skip
from tests.reference import Command, commands

# The commands are run as they stand; this has curl report an error as one, and print the status.
CURLRC = 'silent\nfail-with-body\nwrite-out = "\\n%{http_code}"\n'


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, valkey_url: str) -> Iterator[Server]:
    if shutil.which("curl") is None:
        skip("there is no curl on this machine")
    with gunicorn(tmp_path_factory.mktemp("served"), REDIS_URL=valkey_url) as running:
        yield running


@pytest.mark.slow
def test_every_command_works(server: Server, tmp_path: Path) -> None:
    with urllib.request.urlopen(f"http://127.0.0.1:{server.port}/docs", timeout=60) as answer:
        page = answer.read().decode()
    (tmp_path / ".curlrc").write_text(CURLRC)
    (tmp_path / ImportCreateSchema.example["file"]).write_bytes(
        collection(feature(name="Cedar Creek"))
    )
    by_id = {described(each)["operationId"]: each for each in operations()}
    found = commands(page)
    assert {each.operation for each in found if each.operation} == {
        name for name in by_id if not name.startswith("patch_")
    }
    assert sum(each.operation is None for each in found) > 5
    client, failed = make_account(server.client.app), []
    for command in found:
        operation = by_id[command.operation] if command.operation else None
        status = _run(command, operation, client, tmp_path)
        expected = _success(operation) if operation else {"200", "201"}
        if status not in expected:
            failed.append(f"{status}: {command.text}")
    assert failed == []


def _run(command: Command, operation: Operation | None, client: Client, folder: Path) -> str:
    """What the last line of the command prints, which is the status if curl could be run."""
    ids: Ids = {}
    for name in FILLERS:  # in the order in which one needs the other
        if f"${name.upper()}" in command.text:
            ids[name] = FILLERS[name](client, ids)
    if operation is not None:
        prepare(client, operation, ids)
    variables = {name.upper(): value for name, value in ids.items()}
    done = captured(
        ["sh", "-c", command.text],
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "KEY": str(client.token),
            **variables,
        },
        timeout=60,
        cwd=folder,
    )
    assert not re.findall(r"\$[A-Z_]+_ID", command.text) or ids, command.text
    return done.stdout.rpartition("\n")[2] if done.returncode in (0, 22) else done.stderr


def _success(operation: Operation) -> set[str]:
    return {status for status in described(operation)["responses"] if status.startswith("2")}
