"""Request schemas: events of the operator's billing system, and of Stripe."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import marshmallow as ma
from marshmallow import fields, validate

from app.account.billing.message import TYPES
from app.values.messages import invalid
from app.values.schemas import BoundedList, InputSchema, PartialSchema, Text, Timestamp

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LONGEST_ID: Final = 255
_MOST_ITEMS: Final = 100  # in one subscription; Stripe allows 20


class EpochSeconds(fields.Field[datetime]):
    """Whole seconds since 1970, loaded as a UTC datetime."""

    def _deserialize(self, value: Any, attr: Any, data: Any, **options: Any) -> datetime:
        try:
            if type(value) is int:
                return _EPOCH + timedelta(seconds=value)
        except OverflowError:
            pass
        raise invalid("Must be a time in whole seconds since 1970.", "wrong_type")


class MinorUnits(fields.Field[int]):
    """An amount of money in minor units, such as cents."""

    def _deserialize(self, value: Any, attr: Any, data: Any, **options: Any) -> int:
        if type(value) is not int:
            raise invalid("Must be an integer in minor units, such as cents.", "wrong_type")
        return value


class TypeSchema(PartialSchema):
    """The type of an event; other members are ignored."""

    type = fields.String(required=True)


class InvoiceSchema(InputSchema):
    id = Text(required=True, shortest=1, longest=_LONGEST_ID)
    amount = MinorUnits(required=True)
    currency = Text(required=True, shortest=1, longest=10)
    status = Text(longest=50, allow_none=True)
    due_at = Timestamp(allow_none=True)


class EventSchema(InputSchema):
    """An event of the operator's own billing system. ``null`` means absent."""

    id = Text(required=True, shortest=1, longest=_LONGEST_ID)
    type = fields.String(required=True, validate=validate.OneOf(TYPES))
    created_at = Timestamp(required=True)
    account_id = fields.String(required=True)
    plan = fields.String(allow_none=True)
    status = Text(longest=50, allow_none=True)
    current_period_end = Timestamp(allow_none=True)
    invoice = fields.Nested(InvoiceSchema, allow_none=True)

    @ma.validates_schema
    def _check_invoice(self, data: Mapping[str, Any], **_: Any) -> None:
        if data["type"].startswith("invoice.") and data.get("invoice") is None:
            raise invalid("Required in events about invoices.", "required", "invoice")


class _Metadata(PartialSchema):
    account_id = fields.String(allow_none=True)


class _SubscriptionDetails(PartialSchema):
    metadata = fields.Nested(_Metadata, allow_none=True)


class _Parent(PartialSchema):
    subscription_details = fields.Nested(_SubscriptionDetails, allow_none=True)


class _Price(PartialSchema):
    lookup_key = fields.String(allow_none=True)


class _Item(PartialSchema):
    price = fields.Nested(_Price, allow_none=True)
    current_period_end = EpochSeconds(allow_none=True)


class _Items(PartialSchema):
    data = BoundedList(fields.Nested(_Item), longest=_MOST_ITEMS)


class _Billed(PartialSchema):
    """The fields that Stripe's subscriptions and invoices have in common."""

    customer = Text(longest=_LONGEST_ID, allow_none=True)
    metadata = fields.Nested(_Metadata, allow_none=True)
    status = Text(longest=50, allow_none=True)


class _Subscription(_Billed):
    items = fields.Nested(_Items, allow_none=True)
    current_period_end = EpochSeconds(allow_none=True)  # newer API versions have it in the items


class _Invoice(_Billed):
    id = Text(required=True, shortest=1, longest=_LONGEST_ID)
    currency = Text(required=True, shortest=1, longest=10)
    due_date = EpochSeconds(allow_none=True)
    subscription_details = fields.Nested(_SubscriptionDetails, allow_none=True)
    parent = fields.Nested(_Parent, allow_none=True)  # newer API versions have it here


class _PaidInvoice(_Invoice):
    amount = MinorUnits(required=True, data_key="amount_paid")


class _FailedInvoice(_Invoice):
    amount = MinorUnits(required=True, data_key="amount_due")


def _event_about(object_schema: type[PartialSchema]) -> type[ma.Schema]:
    """The schema of a Stripe event about an object with this schema."""
    return PartialSchema.from_dict(
        {
            "id": Text(required=True, shortest=1, longest=_LONGEST_ID),
            "type": fields.String(required=True),
            "created": EpochSeconds(required=True),
            "data": fields.Nested(
                PartialSchema.from_dict({"object": fields.Nested(object_schema, required=True)}),
                required=True,
            ),
        },
        name=f"Event{object_schema.__name__}",
    )


_SUBSCRIPTION_EVENT: Final = _event_about(_Subscription)

# The Stripe event types that are handled.
STRIPE_EVENTS: Final = {
    "customer.subscription.created": _SUBSCRIPTION_EVENT,
    "customer.subscription.updated": _SUBSCRIPTION_EVENT,
    "customer.subscription.deleted": _SUBSCRIPTION_EVENT,
    "invoice.paid": _event_about(_PaidInvoice),
    "invoice.payment_failed": _event_about(_FailedInvoice),
}
