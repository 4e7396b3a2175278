"""The webhooks that billing systems call, with signed events."""

from __future__ import annotations

from flask import Blueprint, Response, request

from app.account.billing import schemas, service, stripe
from app.account.billing.message import TYPES, BillingMessage, message_of
from app.api import web_routes
from app.db.transactions import transaction
from app.settings.current import current_settings
from app.values import clock

bp = Blueprint("billing", __name__, url_prefix="/api/billing")


@bp.post("/webhook")
def receive_billing_event() -> Response:
    """Receive an event of a billing system, signed with BILLING_WEBHOOK_SECRET."""
    web_routes.verify_signature(current_settings().billing_webhook_secret, "BILLING_WEBHOOK_SECRET")
    if web_routes.read_body(schemas.TypeSchema)["type"] not in TYPES:
        return _respond_to_stripe(service.IGNORED)
    loaded = web_routes.read_body(schemas.EventSchema)
    return _apply_stripe_message(message_of(loaded, _raw_body_text()))


@bp.post("/payment-provider-webhook")
def receive_payment_event() -> Response:
    """Receive a Stripe event, signed with PAYMENT_PROVIDER_WEBHOOK_SECRET."""
    secret = current_settings().payment_provider_webhook_secret
    body = web_routes.signed_body(secret, "PAYMENT_PROVIDER_WEBHOOK_SECRET")
    header = request.headers.get(stripe.SIGNATURE)
    if not stripe.is_signed(secret or "", body, header, clock.now()):
        raise web_routes.bad_signature(
            stripe.SIGNATURE,
            "Or it was signed more than 5 minutes before or after the time on this machine. "
            "Compare PAYMENT_PROVIDER_WEBHOOK_SECRET with the endpoint's secret.",
        )
    schema = schemas.STRIPE_EVENTS.get(web_routes.read_body(schemas.TypeSchema)["type"])
    if schema is None:
        return _respond_to_stripe(service.IGNORED)
    return _apply_stripe_message(stripe.message_of(web_routes.read_body(schema), _raw_body_text()))


def _apply_stripe_message(message: BillingMessage) -> Response:
    """Apply a message, commit, and respond."""
    with transaction():
        result = service.apply_message(message)
    return _respond_to_stripe(result)


def _respond_to_stripe(result: str) -> Response:
    return web_routes.json_response({"received": True, "result": result})


def _raw_body_text() -> str:
    """The request's raw body. It has been parsed as JSON, so it is UTF-8."""
    return request.get_data().decode()
