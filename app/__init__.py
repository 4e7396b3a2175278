"""Canopy: a self-hosted REST service for forest projects."""

from __future__ import annotations

from flask import Flask

from app.account.routes import bp as account_bp
from app.api import failures, openapi, requests
from app.assets.routes import bp as assets_bp
from app.billing.routes import bp as billing_bp
from app.chat.routes import bp as chat_bp
from app.core import (
    compression,
    cors,
    database,
    edge,
    logging,
    passwords,
    plans,
    proxies,
    sealing,
    store,
)
from app.core.application import SynchronousFlask
from app.core.migrations import FOLDER
from app.credentials.routes import bp as credentials_bp
from app.events.routes import bp as events_bp
from app.extensions import db, migrate
from app.members.routes import bp as members_bp
from app.members.views import bp as invitations_bp
from app.oauth.routes import bp as oauth_bp
from app.oauth.views import bp as oauth_pages_bp
from app.people.views import bp as people_bp
from app.profile.views import bp as profile_bp
from app.projects.routes import bp as projects_bp
from app.row_changes.routes import bp as row_changes_bp
from app.running import embedded
from app.site import docs, forms, health, metrics, pages
from app.site.errors import error_page
from app.webhooks.logs.routes import bp as webhook_logs_bp
from app.webhooks.routes import bp as webhooks_bp
from config import Settings, load_settings


def create_app(settings: Settings | None = None) -> Flask:
    """The application, with its parts in the order in which a request meets them.

    Raises:
        config.SettingsError: a setting of the environment is wrong.
    """
    settings = settings or load_settings()
    app = SynchronousFlask(__name__, instance_path=str(settings.instance_path), static_folder=None)
    app.config.update(
        SETTINGS=settings,
        MAX_CONTENT_LENGTH=settings.max_body_bytes,
        SQLALCHEMY_DATABASE_URI=settings.database_url,
        # Asked before each change whether it still lives; a reading is done again instead.
        SQLALCHEMY_ENGINE_OPTIONS=database.engine_options(settings) | {"pool_pre_ping": True},
        PROVIDE_AUTOMATIC_OPTIONS=False,
        **openapi.CONFIG,
    )
    app.url_map.strict_slashes = False
    app.url_map.merge_slashes = False
    plans.init_app(app, settings.plans_file)
    logging.init_app(app)
    sealing.init_app(app, settings.secret_key, settings.secret_key_former)
    passwords.init_app(app, settings)
    database.init_app(app)
    migrate.init_app(app, db, directory=FOLDER)
    store.init_app(app, settings, lambda: embedded.ensure(settings.instance_path))
    failures.init_app(app, error_page)
    cors.init_app(app, settings.cors_origins)
    requests.init_app(app)
    compression.init_app(app)
    edge.init_app(app)
    proxies.init_app(app, settings.trusted_proxies)
    pages.init_app(app, settings)
    metrics.init_app(app)
    if settings.chat_base_url and settings.chat_model:
        from app.chat import model  # noqa: PLC0415 - only here: it takes half a second and 44 MB

        model.init_app(app)

    api = openapi.init_app(app)
    for blueprint in (
        projects_bp, assets_bp, account_bp, members_bp, webhooks_bp, webhook_logs_bp, events_bp,
        credentials_bp,
    ):  # fmt: skip
        api.register_blueprint(blueprint)
    for other in (
        billing_bp, chat_bp, docs.bp, forms.bp, health.bp, invitations_bp, metrics.bp,
        oauth_bp, oauth_pages_bp, people_bp, profile_bp, row_changes_bp,
    ):  # fmt: skip
        app.register_blueprint(other)
    return app
