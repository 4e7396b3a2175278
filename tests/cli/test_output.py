"""What commands print of names that hold control characters, and that they take none."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Run
from tests.make import Client
from tests.names import CONTROL, NOT_NAMES, STORED, make_stored


@pytest.mark.parametrize("name", [name for name in NOT_NAMES if "\0" not in name][::5])
def test_commands_take_no_such_names(run: Run, client: Client, name: str) -> None:
    account = client.account_id
    for arguments in (
        ("account", "create", "--owner-email", "jo@example.org", "--name", name),
        ("account", "rename", account, name),
        ("key", "create", "--account", account, "--permission", "projects:read", "--name", name),
    ):
        result = run(*arguments)
        assert (result.exit_code, result.stdout) == (1, ""), arguments
        assert "Error: name: Must " in result.stderr


def test_terminals_obey_no_stored_name(run: Run, client: Client) -> None:
    make_stored(client)
    account = client.account_id
    for arguments in (
        ("account", "list"),
        ("account", "show", account),
        ("member", "list", "--account", account),
        ("user", "list"),
        ("user", "show", client.owner_id),
        ("member", "remove", client.owner_id, "--account", account, "--yes"),
    ):
        for more in ((), ("--json",)):
            result = run(*arguments, *more)
            assert not CONTROL.search(result.output.replace("\ufdd0", "")), (
                arguments,
                result.output,
            )
            if not more and result.exit_code == 0:
                assert "Be?]2_x?ech ?? line" in result.stdout, arguments
    result = run("member", "list", "--account", account, "--json")
    assert json.loads(result.stdout)[0]["name"] == STORED
