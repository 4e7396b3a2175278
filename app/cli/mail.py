"""``bin/canopy mail``: testing that emails arrive."""

from __future__ import annotations

from contextlib import closing

import click

from app.cli.context import database_command
from app.cli.group import Commands
from app.cli.output import CommandError, show_record
from app.mail.errors import MailError
from app.mail.leases import LeasedMail
from app.mail.messages import Envelope, compose_message
from app.mail.transport import open_transport
from app.outbound.switch import how_to_send, is_outbound_off
from app.settings.current import current_settings
from app.values import clock
from app.values.email import email_problem
from app.values.ids import new_id

mail = Commands("mail", help="Find out whether emails arrive.")


@mail.command("test")
@click.argument("address", metavar="ADDRESS")
@database_command("mail test jo@example.org")
def send_test_mail_command(address: str, as_json: bool) -> None:
    """Send a test email now and say what happened to it.

    It is sent like any other email: to the server at MAIL_URL, or to a file if MAIL_URL is unset.
    """
    if problem := email_problem(address):
        raise click.BadParameter(problem, param_hint="ADDRESS")
    settings = current_settings()
    if is_outbound_off():
        raise CommandError(f"Not sent: webhooks and emails are held. {how_to_send(settings)}")
    mail = LeasedMail(new_id("mail"), "test", address, None, 1)
    try:
        message = compose_message(Envelope(mail.id, address, clock.now()), "test", {}, settings)
        with closing(open_transport(settings)) as transport:
            result = transport.send(mail, message)
    except MailError as failure:
        reply = f" It said: {failure.reply}" if failure.reply else ""
        raise CommandError(f"Not sent: {failure.reason}.{reply}") from None
    show_record({"id": mail.id, "recipient": address, "result": result}, as_json=as_json)
