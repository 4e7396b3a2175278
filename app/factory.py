"""The application factory, for the web server and the worker."""

from __future__ import annotations

from flask import Flask

from app.account.billing.routes import bp as billing_bp
from app.account.credentials.routes import bp as credentials_bp
from app.account.credentials.routes import me_bp
from app.account.members.routes import bp as members_bp
from app.account.routes import bp as account_bp
from app.api import error_handlers, expensive, requests
from app.api.openapi import document
from app.assets.routes import bp as assets_bp
from app.audit.log.routes import bp as audit_log_bp
from app.backgrounds import layers
from app.chat import model as chat_model
from app.chat.routes import bp as chat_bp
from app.core import create_core
from app.database_webhook.routes import bp as database_webhook_bp
from app.eudr.routes import bp as eudr_bp
from app.events.routes import bp as events_bp
from app.exports.account_export.routes import bp as account_export_bp
from app.exports.routes import bp as exports_bp
from app.http import compression, cors, logging, middleware, proxies, query_key
from app.imports.routes import bp as imports_bp
from app.monitoring import health, metrics, storage
from app.oauth.routes import bp as oauth_bp
from app.oauth.routes import oauth_error
from app.ogc.routes import bp as ogc_bp
from app.pages.blueprints import PAGES
from app.projects.boundaries.routes import bp as boundaries_bp
from app.projects.map.routes import bp as maps_bp
from app.projects.routes import bp as projects_bp
from app.reference.guides.routes import bp as guides_bp
from app.reference.routes import bp as reference_bp
from app.security import passwords
from app.site import form_validation, pages, protection, root_files, sent_forms
from app.site.errors import error_page
from app.usage.routes import bp as usage_bp
from app.webhooks.logs.routes import bp as webhook_logs_bp
from app.webhooks.replays.routes import bp as webhook_replays_bp
from app.webhooks.routes import bp as webhooks_bp
from config import Settings


def create_app(settings: Settings) -> Flask:
    """Create the whole application."""
    app = create_core(settings)
    app.config.update(
        MAX_CONTENT_LENGTH=settings.max_body_bytes,
        PROVIDE_AUTOMATIC_OPTIONS=False,
        **document.CONFIG,
    )
    app.url_map.strict_slashes = False
    app.url_map.merge_slashes = False
    pages.init_app(app, settings)
    layers.init_app(app)
    sent_forms.init_app(app)
    storage.init_app(app)
    _surround_routes(app, settings)
    if settings.chat_base_url and settings.chat_model:
        chat_model.init_app(app)
    if settings.oidc_issuer:
        from app.people.single_sign_on import provider  # noqa: PLC0415 - it takes 2 MB

        provider.init_app(app)

    api = document.init_app(app)
    for blueprint in (
        projects_bp, maps_bp, boundaries_bp, assets_bp, imports_bp, exports_bp, eudr_bp, account_bp,
        account_export_bp, usage_bp, members_bp, webhooks_bp, webhook_logs_bp, webhook_replays_bp,
        events_bp, audit_log_bp, credentials_bp, me_bp,
    ):  # fmt: skip
        api.register_blueprint(blueprint)
    for plain_blueprint in (
        billing_bp, chat_bp, form_validation.bp, guides_bp, health.bp, metrics.bp, oauth_bp, ogc_bp,
        reference_bp, root_files.bp, database_webhook_bp, *PAGES,
    ):  # fmt: skip
        app.register_blueprint(plain_blueprint)
    return app


def _surround_routes(app: Flask, settings: Settings) -> None:
    """Set up what happens to each request before its route (in), and to its response (out).

    An error ends the way in; its response takes the same way out.
    """
    # In: from top to bottom. Out: from bottom to top.
    expensive.init_app(app)  # in: begins the clock; out: ends the turn of a large page
    passwords.hash_in_turns(app, expensive.expensive_work)
    logging.init_app(app)  # out: writes one line into the log
    # Out: errors become the envelope, or OAuth's form, or a page.
    error_handlers.init_app(app, oauth_error, error_page)
    cors.init_app(app, settings.cors_origins)  # in: answers preflight requests; out: CORS headers
    requests.init_app(app)  # in: size and type of the body, credential, limits; out: X-RateLimit
    compression.init_app(app)  # in: entity tags without their coding; out: compresses the body
    metrics.init_app(app)  # out: counts the response
    protection.init_app(app, settings)  # in: nothing, as pages check their forms themselves
    # Then Flask enters the route. An operation of /v1 goes on in app.api.blueprint: permission
    # (401, 403), stored response, resource (404), parameters and body (400, 422), transaction.

    # Around all of that: each wraps the application, so the last one is the first on the way in.
    middleware.init_app(app)  # in: id and time; out: id, security headers
    query_key.init_app(app)  # in: takes an API key out of the address, below /ogc
    proxies.init_app(app, settings.trusted_proxies)  # in: the client's address, scheme and host
