"""What an event of a billing system does.

Events come in any order and more than once. Each is kept by its id, so a repeat does nothing; and
none that is older than what was applied before has an effect, so the plan never turns back.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import select

from app.account.service import check_plan, set_plan
from app.auth.tenant import rows_of
from app.billing.message import Message
from app.db.engines import insert_into
from app.db.extensions import db
from app.http.errors import Detail, ValidationFailed
from app.models import Account, BillingCustomer, BillingEvent, BillingSubscription
from app.outbox import Actor, emit
from app.values import clock
from app.values.clock import format_optional_time, format_time, parse_time
from app.values.ids import is_id

APPLIED: Final = "applied"
REPEATED: Final = "repeated"
IGNORED: Final = "ignored"


def take(message: Message) -> str:
    """Keep an event and do what it says, in the transaction at hand.

    Returns APPLIED; REPEATED when it was taken before; IGNORED when a newer one was.

    Raises:
        ValidationFailed: the account or the plan is unknown.
    """
    account = _lock_account(message)
    if not _keep(message, account.id):
        return REPEATED
    if message.plan is not None:
        check_plan(message.plan)  # also when set_plan is not called
    _note_customer(message, account.id)
    if message.is_of_subscription:
        return _change_subscription(account, message)
    _emit_invoice(account, message)
    return APPLIED


def _lock_account(message: Message) -> Account:
    """The account that a message is about. Whoever tells more of it waits.

    The lock is not one that foreign keys wait for, so that projects can be changed meanwhile.
    """
    account_id = message.account_id
    if account_id is None and message.customer_id is not None:
        account_id = _account_of_customer(message.customer_id)
    account = None
    if account_id is not None and is_id("account", account_id):
        account = db.session.get(Account, account_id, with_for_update={"key_share": True})
    if account is None:
        told = "There is no such account." if account_id else "Names no account."
        raise ValidationFailed(details=[Detail("account_id", told)])
    return account


def _account_of_customer(customer_id: str) -> str | None:
    statement = select(BillingCustomer.account_id).where(BillingCustomer.customer_id == customer_id)
    return db.session.execute(statement).scalar_one_or_none()


def _keep(message: Message, account_id: str) -> bool:
    """Write the event into the ledger; False when it is there. The primary key decides."""
    statement = insert_into(BillingEvent).values(
        source=message.source,
        id=message.id,
        account_id=account_id,
        type=message.type,
        body=message.body,
        created_at=parse_time(format_time(message.at)),  # to the millisecond
        received_at=clock.now(),
    )
    kept = db.session.execute(statement.on_conflict_do_nothing().returning(BillingEvent.id))
    return kept.first() is not None


def _note_customer(message: Message, account_id: str) -> None:
    """Remember whose the customer is, for events that name no account. The newest word holds."""
    if message.customer_id is None or message.account_id is None:
        return
    statement = insert_into(BillingCustomer).values(
        customer_id=message.customer_id, account_id=account_id, named_at=message.at
    )
    named = statement.excluded
    db.session.execute(
        statement.on_conflict_do_update(
            index_elements=[BillingCustomer.customer_id],
            set_={"account_id": named.account_id, "named_at": named.named_at},
            where=BillingCustomer.named_at <= named.named_at,
        )
    )


def _change_subscription(account: Account, message: Message) -> str:
    """Put the account on the plan of the newest event that named one.

    One that names none only has to be newer than all others to be told of: it must not keep an
    older one, which comes late, from saying which plan it is.
    """
    known = _subscription(account.id)
    plan, position = message.new_plan, message.position
    if position < (known.newest if plan is None else known.newest_with_plan):
        return IGNORED
    previous = account.plan
    known.newest = max(known.newest, position)
    if plan is not None:
        known.newest_with_plan = position
    subject = {
        "plan": plan or previous,
        "previous_plan": previous,
        "status": message.status or message.default_status,
        "current_period_end": format_optional_time(message.current_period_end),
    }
    emit(message.type, subject, _origin(account), subject_id=account.id)
    if plan is not None and plan != previous:
        set_plan(account.id, plan)  # tells of thresholds, after what they follow from
    return APPLIED


def _subscription(account_id: str) -> BillingSubscription:
    locked = rows_of(account_id, BillingSubscription).with_for_update()
    known = db.session.scalars(locked).one_or_none()
    if known is None:
        known = BillingSubscription(account_id=account_id, newest="", newest_with_plan="")
        db.session.add(known)
    return known


def _emit_invoice(account: Account, message: Message) -> None:
    invoice = message.invoice
    assert invoice is not None, "the schemas ask for it"
    subject = {
        "id": invoice.id,
        "amount": invoice.amount,
        "currency": invoice.currency,
        "status": invoice.status or message.default_status,
        "due_at": format_optional_time(invoice.due_at),
    }
    emit(message.type, subject, _origin(account), subject_id=account.id)


def _origin(account: Account) -> Actor:
    return Actor(account.id, account.name)
