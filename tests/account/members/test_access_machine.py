"""After any sequence of changes to members, no credential exceeds its person's current role."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import pytest
from flask import Flask
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from hypothesis.stateful import run_state_machine_as_test as run_machine

from app.account.credentials.service import revoke_credential
from app.account.members.invitations import accept_invitation, invite_member
from app.account.members.service import change_role, remove_member
from app.auth.credentials import authenticate_header
from app.auth.sessions import find_session, principal_of, start_session
from app.db.transactions import transaction
from app.http.errors import Unauthorized
from app.oauth.consents import revoke_consent
from app.policy.permissions import PERMISSIONS, ROLES, SCOPES, expand_permissions
from tests.make import make_account
from tests.make.accounts import Client
from tests.make.members import invitation_token, make_key_of, new_email, operator_of
from tests.make.oauth import bearer, grant_tokens, make_application, refresh
from tests.make.properties import examples

pytestmark = pytest.mark.both


PEOPLE = ("ash", "birch", "cedar")
ACTIONS = tuple(sorted(name for name in SCOPES if name in PERMISSIONS))

# Requests that need the permission and change nothing; without it they get 401 or 403.
PROBES = {
    "projects:read": ("GET", "/v1/projects", None),
    "projects:write": ("POST", "/v1/projects", {}),
    "assets:read": ("GET", "/v1/projects/proj_01arz3ndektsv4rrffq69g5fav/assets", None),
    "assets:write": ("POST", "/v1/projects/proj_01arz3ndektsv4rrffq69g5fav/assets", {}),
    "members:read": ("GET", "/v1/account/members", None),
    "members:write": ("POST", "/v1/account/members/invite", {}),
    "billing:read": ("GET", "/v1/account/usage", None),
    "admin": ("PUT", "/v1/account", {"name": 5}),
}


class Held(NamedTuple):
    """A credential of a person, and the permissions it was created with."""

    kind: str
    person: str
    token: str
    given: frozenset[str]


class Access(RuleBasedStateMachine):
    """The members of one account, and all credentials they ever had. A subclass sets ``app``."""

    app: ClassVar[Flask]

    @initialize()
    def begin(self) -> None:
        self.client: Client = make_account(self.app)
        self.application = make_application(self.client)
        self.emails = {person: new_email() for person in PEOPLE}
        self.ids: dict[str, str] = {}
        self.roles: dict[str, str] = {}
        self.joined: set[str] = set()
        self.held: list[Held] = []
        self.keys: dict[str, str] = {}
        self.refreshable: list[tuple[str, str, frozenset[str]]] = []

    def _members(self) -> list[str]:
        return sorted(self.joined)

    @rule(person=st.sampled_from(PEOPLE), role=st.sampled_from(("viewer", "editor", "admin")))
    def invite(self, person: str, role: str) -> None:
        if person in self.joined:
            return
        with self.app.app_context(), transaction():
            operator = operator_of(self.client)
            record = invite_member(operator, email=self.emails[person], role=role)
        self.ids[person], self.roles[person] = record["id"], role

    @rule(person=st.sampled_from(PEOPLE))
    def accept(self, person: str) -> None:
        if person not in self.roles or person in self.joined:
            return
        token = invitation_token(self.client, self.emails[person])
        with self.app.app_context(), transaction():
            assert accept_invitation(token) is not None
        self.joined.add(person)

    @precondition(lambda self: self.roles)
    @rule(data=st.data(), role=st.sampled_from(tuple(ROLES)))
    def give_role(self, data: st.DataObject, role: str) -> None:
        person = data.draw(st.sampled_from(sorted(self.roles)))
        if role == "owner" and person not in self.joined:
            return
        with self.app.app_context(), transaction():
            change_role(operator_of(self.client), self.ids[person], role)
        self.roles[person] = role

    @precondition(lambda self: self.roles)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        person = data.draw(st.sampled_from(sorted(self.roles)))
        with self.app.app_context(), transaction():
            remove_member(operator_of(self.client), self.ids[person])
        del self.roles[person]
        self.joined.discard(person)

    @precondition(lambda self: self.joined)
    @rule(data=st.data())
    def make_key(self, data: st.DataObject) -> None:
        person = data.draw(st.sampled_from(self._members()))
        role = self.roles[person]
        made = make_key_of(self.client, self.ids[person], role)
        self.keys[made.credential_id or ""] = person
        self._hold("key", person, made.token or "", ROLES[role])

    @precondition(lambda self: self.keys)
    @rule(data=st.data())
    def revoke_key(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.keys)))
        with self.app.app_context(), transaction():
            revoke_credential(self.client.account_id, "api_key", key)

    @precondition(lambda self: self.joined)
    @rule(data=st.data())
    def sign_in(self, data: st.DataObject) -> None:
        person = data.draw(st.sampled_from(self._members()))
        with self.app.app_context(), transaction():
            account_id = self.client.account_id
            token = start_session(self.ids[person], account_id, address="", browser="")
        self._hold("session", person, token, ROLES["owner"])

    @precondition(lambda self: self.joined)
    @rule(data=st.data(), scopes=st.sets(st.sampled_from(ACTIONS), min_size=1))
    def grant(self, data: st.DataObject, scopes: set[str]) -> None:
        person = data.draw(st.sampled_from(self._members()))
        asked = [*sorted(scopes), "offline_access"]
        response = grant_tokens(
            self.app, self.application, self.ids[person], self.client.account_id, asked
        )
        given = frozenset(scopes)
        self.refreshable.append((person, response["refresh_token"], given))
        self._hold("oauth", person, response["access_token"], given)

    @precondition(lambda self: self.refreshable)
    @rule(data=st.data())
    def refresh(self, data: st.DataObject) -> None:
        place = data.draw(st.integers(0, len(self.refreshable) - 1))
        person, token, given = self.refreshable[place]
        response = refresh(self.app, self.application, token)
        if response.status_code == 200:
            assert person in self.joined
            self.refreshable[place] = (person, response.json["refresh_token"], given)
            self.held.append(Held("oauth", person, response.json["access_token"], given))

    @precondition(lambda self: self.ids)
    @rule(data=st.data())
    def end_access_of_the_application(self, data: st.DataObject) -> None:
        person = data.draw(st.sampled_from(sorted(self.ids)))
        with self.app.app_context(), transaction():
            revoke_consent(self.ids[person], self.client.account_id, self.application.id)
        ended = [held for held in self.held if (held.kind, held.person) == ("oauth", person)]
        assert not any(self._held_by(held) for held in ended)

    def _hold(self, kind: str, person: str, token: str, given: frozenset[str]) -> None:
        """A new credential has all its permissions that the role allows."""
        held = Held(kind, person, token, given)
        self.held.append(held)
        assert self._held_by(held) == self._allowed(held)

    def _allowed(self, held: Held) -> frozenset[str]:
        """The permissions that it may have at most."""
        if held.person not in self.joined:
            return frozenset()
        return expand_permissions(held.given) & ROLES[self.roles[held.person]]

    def _held_by(self, held: Held) -> frozenset[str]:
        """The permissions that the service grants it."""
        with self.app.app_context():
            try:
                if held.kind != "session":
                    principal = authenticate_header(f"Bearer {held.token}", "")
                elif person := find_session(held.token):
                    principal = principal_of(person)
                else:
                    return frozenset()
            except Unauthorized:
                return frozenset()
        return principal.permissions & frozenset(PERMISSIONS)

    @invariant()
    def nothing_goes_further_than_the_role(self) -> None:
        for held in getattr(self, "held", ()):
            assert self._held_by(held) <= self._allowed(held), held

    def teardown(self) -> None:
        """The same check, through the API."""
        for held in getattr(self, "held", ()):
            if held.kind == "session":
                continue
            caller = bearer(self.client, held.token)
            done = {name for name in PROBES if self._is_let(caller, name)}
            assert done <= self._allowed(held), held

    @staticmethod
    def _is_let(caller: Client, permission: str) -> bool:
        method, path, body = PROBES[permission]
        return caller.send(method, path, json=body).status_code not in (401, 403)


def test_every_permission_is_probed() -> None:
    assert set(PROBES) == set(PERMISSIONS)


@pytest.mark.slow
def test_access_follows_the_current_role(app: Flask) -> None:
    machine = type("AccessHere", (Access,), {"app": app})
    run_machine(machine, settings=examples(8))
