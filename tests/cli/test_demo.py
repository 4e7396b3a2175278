"""``bin/canopy demo``."""

from __future__ import annotations

import json

import pytest
from flask import Flask

from tests.cli.conftest import runner
from tests.make import Client


@pytest.mark.slow
def test_the_demo_is_made_once(empty_app: Flask) -> None:
    run = runner(empty_app)
    made = json.loads(run("demo", "--json").stdout)
    assert (made["projects"], made["created"]) == (24, True)
    client = Client(empty_app, made["account_id"], made["owner_id"], made["api_key"])
    assert client.get("/v1/projects").json["meta"]["total"] == 24
    again = json.loads(run("demo", "--json").stdout)
    assert again == {"account_id": made["account_id"], "slug": made["slug"], "created": False}
    assert len(json.loads(run("account", "list", "--json").stdout)) == 1
    text = run("demo").stdout
    assert "already exists" in text
    command = text.split("bin/canopy ")[1].split()
    assert command[:4] == ["key", "create", "--account", made["slug"]]
    assert run(*command).exit_code == 0
