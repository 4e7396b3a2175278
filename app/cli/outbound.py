"""``bin/canopy outbound``: whether this instance sends anything out."""

from __future__ import annotations

from typing import Any

import click

from app.cli.context import database_command
from app.cli.output import print_text, show_record
from app.db.transactions import transaction
from app.outbound.switch import how_to_send, is_outbound_off
from app.settings.current import current_settings
from app.site.instance_state import read_state
from app.values.clock import format_optional_time
from app.webhooks.held import count_waiting, switch_off, switch_on


@click.command("outbound")
@click.argument("switch", metavar="[on|off]", type=click.Choice(["on", "off"]), required=False)
@click.option("--discard", is_flag=True, help="With on: drop what is held instead of sending it.")
@database_command("outbound", "outbound off", "outbound on --discard --json")
def outbound(switch: str | None, discard: bool, as_json: bool) -> None:
    """Say or change whether webhooks and emails are sent.

    Off, as in a test copy, the instance sends no webhook and no email, and its chat does not
    answer. What waits is held, and sent when it is switched on. The setting OUTBOUND=off does the
    same: the instance sends only if neither says off. Single sign-on is not affected.
    """
    if discard and switch != "on":
        raise click.BadParameter("goes with on.", param_hint="--discard")
    before = _count_held()
    if switch is not None:
        with transaction():
            if switch == "off":
                switch_off()
            else:
                switch_on(discard=discard and is_outbound_off())  # else nothing is held
    settings = current_settings()
    is_off, held = is_outbound_off(), _count_held()
    record: dict[str, Any] = {
        "outbound": "off" if is_off else "on",
        "setting": settings.outbound,
        "off_since": format_optional_time(read_state().outbound_off_at),
        **{f"held_{name}": number for name, number in held.items()},
    }
    if switch == "on":
        word = "discarded" if discard else "released"
        record |= {f"{word}_{name}": before[name] - number for name, number in held.items()}
    show_record(record, as_json=as_json)
    if is_off and not as_json:
        print_text(f"\n{how_to_send(settings)}", err=True)


def _count_held() -> dict[str, int]:
    return count_waiting()._asdict() if is_outbound_off() else {"deliveries": 0, "emails": 0}
