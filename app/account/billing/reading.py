"""What billing systems have said of an account, as its owner may see it."""

from __future__ import annotations

from typing import Any, Final

from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery
from app.models import BillingCustomer, BillingEvent

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


def read_billing(account_id: str) -> dict[str, Any]:
    """The account's ids as a customer, and the events about it, the oldest first: without their
    bodies, which are the books of whoever runs the instance."""
    return {
        "customers": [row._asdict() for row in _CUSTOMERS.all(account_id=account_id)],
        "events": [row._asdict() for row in _EVENTS.all(account_id=account_id)],
    }
