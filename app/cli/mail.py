"""``bin/canopy mail``: whether mails arrive."""

from __future__ import annotations

from contextlib import closing

import click
from flask import current_app
from flask.cli import with_appcontext

from app.cli.output import Refused, examples, json_option, show_record
from app.mail.errors import MailError
from app.mail.leases import LeasedMail
from app.mail.messages import Envelope, compose
from app.mail.transport import open_transport
from app.values import clock
from app.values.email import email_problem
from app.values.ids import new_id
from config import Settings


@click.group("mail")
def mail() -> None:
    """Find out whether mails arrive."""


@mail.command("test")
@click.argument("address", metavar="ADDRESS")
@json_option
@examples("mail test jo@example.org")
@with_appcontext
def test(address: str, as_json: bool) -> None:
    """Send a test mail to ADDRESS at once, and say what became of it.

    It goes the way of all mails: to the server at MAIL_URL, or into a file when that is unset.
    """
    if fault := email_problem(address):
        raise click.BadParameter(fault, param_hint="ADDRESS")
    settings: Settings = current_app.config["SETTINGS"]
    claim = LeasedMail(new_id("mail"), "test", address, None, 1)
    try:
        message = compose(Envelope(claim.id, address, clock.now()), "test", {}, settings)
        with closing(open_transport(settings)) as transport:
            told = transport.send(claim, message)
    except MailError as failure:
        said = f" It said: {failure.reply}" if failure.reply else ""
        raise Refused(f"Not sent: {failure.reason}.{said}") from None
    show_record({"id": claim.id, "recipient": address, "result": told}, as_json=as_json)


commands = [mail]
