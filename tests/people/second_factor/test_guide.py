"""The guide names the steps before which people are asked again."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from config import ROOT

GUIDE = ROOT / "docs" / "second-factor.md"
# Each function that asks, whether also people without a second factor, and the words of the guide.
STEPS = {
    "app/pages/credentials/views.py create": (False, "making an API key or a service token"),
    "app/pages/welcome/views.py make_key": (False, "making an API key or a service token"),
    "app/pages/applications/views.py register": (False, "registering an application"),
    "app/pages/applications/views.py rotate": (False, "giving one a new secret"),
    "app/pages/oauth/views.py _handle_decision": (
        False,
        "allowing an application to act for you",
    ),
    "app/pages/applications/views.py save": (
        False,
        "adding a redirect URI or a scope to one",
    ),
    "app/pages/webhooks/views.py create": (False, "making a webhook"),
    "app/pages/webhooks/views.py save": (False, "changing its URL"),
    "app/pages/webhooks/views.py rotate": (False, "giving it a new secret"),
    "app/pages/members/views.py invite": (False, "inviting an admin"),
    "app/pages/members/views.py invite_again": (False, "inviting an admin, also once more"),
    "app/pages/members/views.py set_role": (False, "making somebody an admin or owner"),
    "app/pages/members/views.py remove": (False, "removing an owner"),
    "app/pages/members/views.py reset_second_factor": (
        False,
        "resetting the second factor of a member",
    ),
    "app/pages/settings/views.py require": (
        False,
        "requiring a second factor of the members, or changing or ending that",
    ),
    "app/pages/profile/views.py change_password": (False, "changing your password"),
    "app/pages/single_sign_on/views.py link": (False, "linking a sign-in to yourself"),
    "app/pages/single_sign_on/views.py mailed_link": (False, "linking a sign-in to yourself"),
    "app/pages/deletion/views.py schedule": (True, r"deleting the account or your profile (\*)"),
    "app/pages/deletion/views.py delete": (True, r"deleting the account or your profile (\*)"),
    "app/pages/second_factor/views.py new_authenticator": (True, "setting up an app"),
    "app/pages/second_factor/views.py confirm_authenticator": (True, "setting up an app"),
    "app/pages/second_factor/views.py new_passkey": (True, r"adding a passkey (\*)"),
    "app/pages/second_factor/views.py add_passkey": (True, r"adding a passkey (\*)"),
    "app/pages/second_factor/views.py remove_authenticator": (False, "removing one"),
    "app/pages/second_factor/views.py remove_passkey": (False, "removing one"),
    "app/pages/second_factor/views.py new_recovery_codes": (False, "making new recovery codes"),
    "app/pages/second_factor/views.py turn_off": (False, "turning your second factor off"),
    "app/pages/operator/views.py set_sign_up": (True, "closing and opening sign-up"),
    "app/pages/operator/views.py show_message": (True, "showing and removing a message"),
    "app/pages/operator/views.py remove_message": (True, "showing and removing a message"),
    "app/pages/operator/views.py change_plan": (True, "changing the plan of an account"),
}


def steps_in_code() -> Iterator[tuple[str, bool]]:
    """The functions that call ``ask_again``, and whether they ask for a password instead."""
    for path in Path(ROOT / "app").rglob("*.py"):
        for function in ast.walk(ast.parse(path.read_text())):
            if not isinstance(function, ast.FunctionDef):
                continue
            for node in ast.walk(function):
                if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "ask_again":
                    yield f"{path.relative_to(ROOT)} {function.name}", bool(node.keywords)


@pytest.mark.slow
def test_each_step_that_asks_is_in_the_list() -> None:
    assert dict(steps_in_code()) == {name: asks for name, (asks, _) in STEPS.items()}


def test_the_guide_names_each_of_them() -> None:
    text = " ".join(GUIDE.read_text().split())
    assert [words for _, words in STEPS.values() if words not in text] == []
