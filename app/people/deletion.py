"""The deletion of a person: by themselves, or by the operator of the instance."""

from __future__ import annotations

from sqlalchemy import func

from app.account.deletion.contents import delete_rows
from app.account.deletion.mails import mail_person_deleted
from app.account.members.removal import leave_accounts
from app.audit.entries import write_entry
from app.db.extensions import db
from app.limits.forgetting import forget_after_commit
from app.models import Credential, Mail, SignUp, User
from app.policy.audit import INSTANCE


def delete_person(user_id: str) -> None:
    """Delete a person with all that is theirs, and mail them. Does nothing if they are deleted
    already, such as by the first of two clicks.

    The audit logs of their accounts say that they left, and the log of the instance that they were
    deleted.

    Raises:
        Conflict: they are the only owner of an account, or have just been invited to one.
    """
    person = db.session.get(User, user_id)
    if person is None or not leave_accounts(person):
        return
    # Keys that they created are revoked already, even in accounts that they left earlier.
    delete_rows(Credential, Credential.created_by == user_id)
    address = person.email.lower()
    delete_rows(SignUp, func.lower(SignUp.email) == address)
    delete_rows(Mail, func.lower(Mail.recipient) == address)
    write_entry("person.deleted", person, account_id=INSTANCE)
    mail_person_deleted(person)
    delete_rows(User, User.id == user_id)
    forget_after_commit(user_id)
