"""``bin/canopy outbound``: whether this instance sends anything out."""

from __future__ import annotations

import click
from flask import current_app

from app.cli.context import in_database
from app.cli.output import add_examples, json_option, print_text, show_record
from app.db.transactions import transaction
from app.outbound.switch import how_to_send, is_outbound_off
from app.site.instance_state import read_state
from app.values.clock import format_optional_time
from app.webhooks.held import Waiting, count_waiting, switch_off, switch_on
from config import Settings


@click.command("outbound")
@click.argument("switch", metavar="[on|off]", type=click.Choice(["on", "off"]), required=False)
@click.option("--discard", is_flag=True, help="With on: drop what is held instead of sending it.")
@json_option
@add_examples("outbound", "outbound off", "outbound on --discard --json")
@in_database
def outbound(switch: str | None, discard: bool, as_json: bool) -> None:
    """Say or change whether webhooks and emails are sent.

    Off, as in a test copy, the instance sends no webhook and no email, and its chat does not
    answer. What waits is held, and sent when it is switched on. The setting OUTBOUND=off does the
    same: the instance sends only if neither says off. Single sign-on is not affected.
    """
    if discard and switch != "on":
        raise click.BadParameter("goes with on.", param_hint="--discard")
    dropped = Waiting(0, 0)
    if switch is not None:
        drops = discard and is_outbound_off()  # else nothing is held
        with transaction():
            if switch == "off":
                switch_off()
            else:
                dropped = switch_on(discard=drops)
    settings: Settings = current_app.config["SETTINGS"]
    is_off = is_outbound_off()
    held = count_waiting() if is_off else Waiting(0, 0)
    record = {
        "outbound": "off" if is_off else "on",
        "setting": settings.outbound,
        "off_since": format_optional_time(read_state().outbound_off_at),
        **{f"held_{name}": number for name, number in held._asdict().items()},
    }
    if discard:
        record |= {f"discarded_{name}": number for name, number in dropped._asdict().items()}
    show_record(record, as_json=as_json)
    if is_off and not as_json:
        print_text(f"\n{how_to_send(settings)}", err=True)


commands = [outbound]
