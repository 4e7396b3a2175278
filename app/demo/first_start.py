"""The text that ``bin/serve`` prints when the service is ready."""

from __future__ import annotations

from typing import Final

from sqlalchemy.exc import IntegrityError

from app.account.lookup import first_account
from app.backgrounds.layers import shown_layers
from app.db.transactions import transaction
from app.demo.service import EXAMPLE, Demo, make_demo
from app.mail.transport import MAIL_FOLDER
from app.outbound.switch import how_to_send, is_outbound_off
from app.site.static_files import HOW_TO_MAKE, missing_files
from app.values.command_name import canopy_command
from app.values.strict_json import dumps
from config import Settings

_EXAMPLE_PROJECT: Final = {
    "name": "My first forest",
    "geometry": {
        "type": "Polygon",
        "coordinates": [
            [
                [-122.05, 44.05],
                [-122.04, 44.05],
                [-122.04, 44.06],
                [-122.05, 44.06],
                [-122.05, 44.05],
            ]
        ],
    },
}


def welcome_text(settings: Settings, *, empty: bool) -> str:
    """Return the next steps for the person who started the service. Needs an app context.

    Unless ``empty``, creates the demo account in a database without accounts, and commits. Only
    this text has its password and key.
    """
    url = settings.public_url
    head = f"Canopy is at {url}\nSign in at {url}/login\nThe API reference is at {url}/docs\n"
    if missing := missing_files():
        head += f"{missing} {HOW_TO_MAKE}\n"
    if is_outbound_off():
        head += f"It sends no webhooks and no emails. {how_to_send(settings)}\n"
    elif settings.mail_url is None:
        folder = settings.instance_path / MAIL_FOLDER
        head += f"Emails are files in {folder}, as MAIL_URL is unset\n"
    if not shown_layers():
        head += f"Roads or imagery on maps: an operator turns them on at {url}/operator/map\n"
    account = first_account()
    if account is None and not empty:
        try:
            with transaction():
                created = make_demo()
        except IntegrityError:  # another process was first
            account = first_account()
        else:
            return head + _demo_text(url, created)
    if account is None:
        return head + _first_account(url, can_sign_up=settings.sign_up == "open")
    return head + _next_key(account.slug)


def _demo_text(url: str, demo: Demo) -> str:
    password = demo.owner_password or "the one that they already have"
    auth = f"-H 'Authorization: Bearer {demo.api_key}'"
    body = dumps(_EXAMPLE_PROJECT).decode()
    return f"""
The database was empty. It now has the account {demo.slug} with {demo.projects} districts.
Its owner's password and an API key are shown only once:

  email     {demo.owner_email}
  password  {password}
  API key   {demo.api_key}

List five of its projects:

  curl {auth} '{url}/v1/projects?per_page=5'

Read {EXAMPLE}, with its boundary and its hectares:

  curl {auth} '{url}/v1/projects/{demo.example_id}'

Create a project:

  curl {auth} -H 'Content-Type: application/json' -d '{body}' '{url}/v1/projects'
"""


def _first_account(url: str, *, can_sign_up: bool) -> str:
    sign_up = f"Sign up at {url}/register, or create" if can_sign_up else "Create"
    return f"""
There is no account yet. {sign_up} the first one here,
with its owner and an API key:

  {canopy_command()} account create --name 'My forests' --owner-email you@example.org

Or create one with example data:

  {canopy_command()} demo
"""


def _next_key(slug: str) -> str:
    return f"""
Create an API key with:

  {canopy_command()} key create --account {slug} --name laptop --permission admin
"""
