"""Members that are changed at the same moment, by several web processes: what must hold."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, Final

from app.account.members.invitations import accept_invitation
from app.account.members.service import list_members
from app.db.extensions import db
from tests.make import (
    Client,
    event_types,
    invitation_token,
    make_account,
    make_invited,
    make_member,
    new_email,
    together,
)
from trials.faults.service import Service, service
from trials.faults.traffic import local
from trials.report import Report

AT_ONCE = 20  # who come for the last seat, and with one link
PATH = "/v1/account/members"


def members(database: str, folder: Path, is_short: bool) -> Report:
    """Change members in several processes at the same moment, again and again."""
    report, rounds = Report(), 5 if is_short else 200
    with service(database, folder, settings={"WEB_WORKERS": "4"}) as running:
        for what, race in _RACES.items():
            wrong = [fault for _ in range(rounds) if (fault := race(running))]
            report.lines.append(f"  {what}: correct in {rounds - len(wrong)} of {rounds} rounds")
            report.check_none(wrong, f"rounds of {what} went wrong")
    return report


def _send(running: Service, client: Client, method: str, path: str, body: Any = None) -> int:
    """The status."""
    headers = {**client.authorization, "Content-Type": "application/json"}
    with closing(local(running.port)()) as connection:
        connection.request(method, path, body and json.dumps(body), headers)
        return connection.getresponse().status


def _owners(running: Service) -> str:
    one = make_account(running.app)
    other = make_member(one, "owner").client
    calls = []
    for mine, theirs in ((one, other), (other, one)):
        path, send = f"{PATH}/{theirs.owner_id}", partial(_send, running, mine)
        calls += [partial(send, "DELETE", path), partial(send, "PUT", path, {"role": "viewer"})]
    outcomes = set(together(*calls))
    found = _members(one)
    owners = sum(member["role"] == "owner" for member in found)
    removals = event_types(one).count("member.removed")
    is_right = owners == 1 and removals == 2 - len(found) and {200, 204} & outcomes
    is_right = is_right and outcomes <= {200, 204, 401, 403, 404, 409}
    return "" if is_right else f"{owners} owners, {removals} removals, answers {outcomes}"


def _seats(running: Service) -> str:
    client = make_account(running.app, plan="free")
    make_invited(client)
    bodies = [{"email": new_email(), "role": "editor"} for _ in range(AT_ONCE)]
    send = partial(_send, running, client, "POST", f"{PATH}/invite")
    outcomes = Counter(together(*[partial(send, body) for body in bodies]))
    found, invited = len(_members(client)), event_types(client).count("member.invited")
    is_right = outcomes == {201: 1, 403: AT_ONCE - 1} and (found, invited) == (3, 2)
    return "" if is_right else f"{found} members, {invited} events, answers {dict(outcomes)}"


def _invitations(running: Service) -> str:
    client = make_account(running.app)
    token = invitation_token(client, make_invited(client)["email"])

    def accept() -> bool:
        with running.app.app_context():
            joined = accept_invitation(token)
            db.session.commit()
            return joined is not None

    joined = sum(together(*[accept] * AT_ONCE))
    pending = [member for member in _members(client) if member["joined_at"] is None]
    types = event_types(client)
    is_right = joined == 1 and not pending and types == ["member.invited", "member.joined"]
    return "" if is_right else f"{joined} joined, {len(pending)} pending, events {types}"


def _members(client: Client) -> list[dict[str, Any]]:
    with client.app.app_context():
        return list_members(client.account_id)


_RACES: Final = {
    "two owners remove and demote each other at once": _owners,
    f"{AT_ONCE} invitations at once for the last seat": _seats,
    f"one invitation accepted {AT_ONCE} times at once": _invitations,
}
