"""Storing and applying the events of billing systems.

Events can arrive in any order and more than once. Each is stored by its id, so a repeat has no
effect; and an event older than the last applied one is ignored, so the plan never goes back.
"""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import select

from app.account.billing.message import BillingMessage
from app.account.service import set_plan
from app.account.validation import check_plan
from app.audit.origin import Actor
from app.auth.tenant import columns_of, rows_of
from app.db.engines import insert_into
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.events.outbox import EventActor, emit_event
from app.http.errors import InvalidField
from app.models import Account, BillingCustomer, BillingEvent, BillingSubscription
from app.values import clock
from app.values.clock import format_optional_time, format_time, parse_time
from app.values.ids import is_id

APPLIED: Final = "applied"
REPEATED: Final = "repeated"
IGNORED: Final = "ignored"
_SUBSCRIPTION: Final = CompiledQuery(
    columns_of(BillingSubscription, BillingSubscription.account_id)
)
_CUSTOMERS: Final = CompiledQuery(
    columns_of(BillingCustomer, BillingCustomer.customer_id, BillingCustomer.named_at).order_by(
        BillingCustomer.named_at, BillingCustomer.customer_id
    )
)
_EVENTS: Final = CompiledQuery(
    columns_of(
        BillingEvent,
        BillingEvent.source,
        BillingEvent.id,
        BillingEvent.type,
        BillingEvent.created_at,
        BillingEvent.received_at,
    ).order_by(BillingEvent.created_at, BillingEvent.id)
)
_BILLING: Final = Actor("system", None, "Billing system")


def apply_message(message: BillingMessage) -> str:
    """Store an event and apply it, in the current transaction.

    Returns APPLIED, REPEATED if it was received before, or IGNORED if a newer one was.

    Raises:
        ValidationFailed: the account or the plan is unknown.
    """
    account = _lock_account(message)
    if not _store_event(message, account.id):
        return REPEATED
    if message.plan is not None:
        check_plan(message.plan)  # also when set_plan is not called
    _store_customer(message, account.id)
    if message.is_of_subscription:
        return _change_subscription(account, message)
    _emit_invoice(account, message)
    return APPLIED


def has_subscription(account_id: str) -> bool:
    """True if a billing system has reported a subscription of an account."""
    return _SUBSCRIPTION.first(account_id=account_id) is not None


def read_billing(account_id: str) -> dict[str, Any]:
    """Read the account's customer ids and the events about it, oldest first, for its owner.

    The bodies of the events are left out: they are the operator's books.
    """
    return {
        "customers": [row._asdict() for row in _CUSTOMERS.all(account_id=account_id)],
        "events": [row._asdict() for row in _EVENTS.all(account_id=account_id)],
    }


def _lock_account(message: BillingMessage) -> Account:
    """Lock and return the account that a message is about, so that its messages are applied one by
    one.

    Uses ``FOR NO KEY UPDATE``, so that the account's projects can be changed meanwhile.
    """
    account_id = message.account_id
    if account_id is None and message.customer_id is not None:
        account_id = _account_of_customer(message.customer_id)
    account = None
    if account_id is not None and is_id("account", account_id):
        account = db.session.get(Account, account_id, with_for_update={"key_share": True})
    if account is None:
        problem = "This account does not exist." if account_id else "Required. Name an account."
        code = "not_found" if account_id else "required"
        raise InvalidField("account_id", problem, code)
    return account


def _account_of_customer(customer_id: str) -> str | None:
    statement = select(BillingCustomer.account_id).where(BillingCustomer.customer_id == customer_id)
    return db.session.execute(statement).scalar_one_or_none()


def _store_event(message: BillingMessage, account_id: str) -> bool:
    """Store the event. Returns False if it is stored already, by its primary key."""
    statement = insert_into(BillingEvent).values(
        source=message.source,
        id=message.id,
        account_id=account_id,
        type=message.type,
        body=message.body,
        created_at=parse_time(format_time(message.at)),  # to the millisecond
        received_at=clock.now(),
    )
    inserted = db.session.execute(statement.on_conflict_do_nothing().returning(BillingEvent.id))
    return inserted.first() is not None


def _store_customer(message: BillingMessage, account_id: str) -> None:
    """Remember the customer's account, for events that name no account. The newest event wins."""
    if message.customer_id is None or message.account_id is None:
        return
    statement = insert_into(BillingCustomer).values(
        customer_id=message.customer_id, account_id=account_id, named_at=message.at
    )
    new = statement.excluded
    db.session.execute(
        statement.on_conflict_do_update(
            index_elements=[BillingCustomer.customer_id],
            set_={"account_id": new.account_id, "named_at": new.named_at},
            where=BillingCustomer.named_at <= new.named_at,
        )
    )


def _change_subscription(account: Account, message: BillingMessage) -> str:
    """Put the account on the plan of the newest event that has one, and emit the event.

    An event without a plan is compared with all events, one with a plan only with others that have
    one: a newer event without a plan must not suppress the plan of an older one that arrives late.
    """
    subscription = _lock_subscription(account.id)
    plan, position = message.new_plan, message.position
    if position < (subscription.newest if plan is None else subscription.newest_with_plan):
        return IGNORED
    previous = account.plan
    subscription.newest = max(subscription.newest, position)
    if plan is not None:
        subscription.newest_with_plan = position
    subject = {
        "plan": plan or previous,
        "previous_plan": previous,
        "status": message.status or message.default_status,
        "current_period_end": format_optional_time(message.current_period_end),
    }
    emit_event(message.type, subject, _billing_actor(account), subject_id=account.id)
    if plan is not None and plan != previous:
        set_plan(account.id, plan, _BILLING)  # emits usage events, after the event that causes them
    return APPLIED


def _lock_subscription(account_id: str) -> BillingSubscription:
    """Lock and return the account's subscription, or create one."""
    own = rows_of(account_id, BillingSubscription).with_for_update()
    subscription = db.session.scalars(own).one_or_none()
    if subscription is None:
        subscription = BillingSubscription(account_id=account_id, newest="", newest_with_plan="")
        db.session.add(subscription)
    return subscription


def _emit_invoice(account: Account, message: BillingMessage) -> None:
    invoice = message.invoice
    assert invoice is not None, "the schemas require it"
    subject = {
        "id": invoice.id,
        "amount": invoice.amount,
        "currency": invoice.currency,
        "status": invoice.status or message.default_status,
        "due_at": format_optional_time(invoice.due_at),
    }
    emit_event(message.type, subject, _billing_actor(account), subject_id=account.id)


def _billing_actor(account: Account) -> EventActor:
    return EventActor(account.id, account.name)
