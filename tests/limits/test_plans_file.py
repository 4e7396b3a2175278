"""``PLANS_FILE``: what it changes, and what stops the start."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from flask import Flask

from app.account.service import create_account, open_account
from app.policy.plans import PLANS, Plan
from app.settings.plans import read_plans
from config import ROOT
from tests.make import make_account, new_email, second_app


def _file(folder: Path, text: str) -> Path:
    path = folder / "plans.toml"
    path.write_text(text)
    return path


def test_a_file_adds_plans_and_changes_those_that_are_there(app: Flask, tmp_path: Path) -> None:
    text = "[free]\nrequests_per_minute = 3\nhectares = 7\n\n[gold]\nmembers = 9\n"
    with second_app(app, plans_file=_file(tmp_path, text)) as made:
        free, pro = make_account(made, plan="free"), make_account(made, plan="pro")
        gold = make_account(made, plan="gold")
        assert free.get("/v1/account").headers["X-RateLimit-Limit"] == "3"
        assert pro.get("/v1/account").headers["X-RateLimit-Limit"] == "300"
        usage = free.get("/v1/account/usage").json["data"]
        assert (usage["hectares"]["limit"], usage["members"]["limit"]) == (7, None)
        assert usage["api_requests"]["limit"] is None
        answer = made.test_client().get("/v1/account", headers=gold.authorization)
        assert answer.json["data"]["plan"] == "gold"


def test_nothing_and_zero_are_no_limit(tmp_path: Path) -> None:
    plans = read_plans(_file(tmp_path, "[a]\n[b]\nrequests_per_day = 0\nmembers = 1\n"))
    assert plans == {"a": Plan(None, None, None, None), "b": Plan(None, None, None, 1)}


def test_the_example_of_the_documents_can_be_read(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "run.md").read_text()
    example = page.split("```toml\n")[1].split("```")[0]
    assert set(read_plans(_file(tmp_path, example))) - set(PLANS)


def test_a_wrong_file_is_refused_with_the_line_and_the_reason(tmp_path: Path) -> None:
    for text, line, reason in (
        ("x = 1", 1, "must be a table"),
        ("# plans\n\n[free]\nbees = 1", 4, "bees of [free] is unknown"),
        ("[free]\n\n[Gold]\nmembers = 1", 3, "'Gold' is not a name for a plan"),
        ("[free]\nmembers = -1", 2, "members of [free] must be a whole number"),
        ("[free]\nmembers = 1\n[gold]\nmembers = 1.5", 4, "members of [gold]"),
        ("[free]\nmembers = true", 2, "must be a whole number"),
        ("[free]\nmembers = '3'", 2, "must be a whole number"),
        ("[free]\nmembers = 9007199254740992", 2, "must be a whole number"),
        ("[free]\nhectares = 1\n\n  members=-4 # few", 4, "members of [free]"),
    ):
        path = _file(tmp_path, text)
        wanted = f"^PLANS_FILE {re.escape(str(path))}, line {line}: .*{re.escape(reason)}"
        with pytest.raises(ValueError, match=wanted):
            read_plans(path)


def test_what_is_no_toml_is_refused(tmp_path: Path) -> None:
    for text in ("[free\n", "[free]\nmembers =\n", "[free]\n[free]\n"):
        with pytest.raises(ValueError, match=r"line [12]"):
            read_plans(_file(tmp_path, text))
    path = tmp_path / "plans.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match="cannot be read"):
        read_plans(path)


def test_new_accounts_are_on_the_default_plan(app: Flask, tmp_path: Path) -> None:
    path = _file(tmp_path, "[gold]\nmembers = 9\n")
    with second_app(app, plans_file=path, default_plan="gold") as made, made.app_context():
        email = new_email("default-plan")
        created = create_account(name="Default Plan", owner_email=email)
        opened = open_account("Another", created.owner)
        assert (created.account.plan, opened.plan) == ("gold", "gold")
