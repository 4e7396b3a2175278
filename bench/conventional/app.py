"""The application, and what fills its database."""

from __future__ import annotations

import hashlib
import os
import secrets
import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any

from flask import Flask, g, request
from flask_limiter import Limiter
from flask_smorest import Api, abort
from sqlalchemy import event
from sqlalchemy.pool import ConnectionPoolEntry

from bench.conventional.models import Account, ApiKey, Project, db
from bench.conventional.resources import blp
from bench.conventional.schemas import area_hectares

DATABASE = "CONVENTIONAL_DATABASE_URL"
REDIS = "CONVENTIONAL_REDIS_URL"
HISTORY = "CONVENTIONAL_HISTORY"  # set: events and entries of an audit log are written


def create_app(environ: Mapping[str, str] = os.environ) -> Flask:
    app = Flask(__name__)
    app.config.update(
        API_TITLE="Projects",
        API_VERSION="v1",
        OPENAPI_VERSION="3.1.0",
        SQLALCHEMY_DATABASE_URI=environ[DATABASE],
        WRITES_HISTORY=HISTORY in environ,
    )
    db.init_app(app)
    if environ[DATABASE].startswith("sqlite"):
        with app.app_context():
            event.listen(db.engine, "connect", _prepare_sqlite)
    app.before_request(_authenticate)
    limiter = Limiter(
        lambda: str(g.account.id),
        app=app,
        storage_uri=environ[REDIS],
        application_limits=[_plan_limits],
        headers_enabled=True,
    )
    Api(app).register_blueprint(blp)
    app.add_url_rule("/healthz", "healthz", limiter.exempt(lambda: {"status": "ok"}))
    return app


def _prepare_sqlite(connection: sqlite3.Connection, _: ConnectionPoolEntry) -> None:
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA foreign_keys=ON")
    connection.execute("PRAGMA cache_size=-16000")


def _authenticate() -> None:
    """Find the account of the API key, which is kept as its hash."""
    if request.endpoint == "healthz":
        return
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token:
        abort(401, message="Send an API key as a bearer token.")
    found = db.select(ApiKey).filter_by(token_hash=_hash(token))
    key = db.session.scalars(found).one_or_none()
    if key is None:
        abort(401, message="There is no such API key.")
    g.key, g.account = key, key.account


def _plan_limits() -> str:
    account = g.account
    return f"{account.requests_per_minute} per minute; {account.requests_per_day} per day"


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def fill(environ: Mapping[str, str], boundaries: Iterable[dict[str, Any]]) -> tuple[str, list[str]]:
    """Make the tables, and an account with a project for each boundary.

    Returns an API key, and the ids of the projects.
    """
    token = secrets.token_urlsafe(32)
    with create_app(environ).app_context():
        db.create_all()
        limits = {"requests_per_minute": 100_000_000, "requests_per_day": 1_000_000_000}
        account = Account(name="Bench", **limits)
        db.session.add(ApiKey(account=account, token_hash=_hash(token)))
        db.session.flush()
        projects = [
            Project(
                account_id=account.id,
                name=f"Forest {number}",
                description="Measured",
                geometry=geometry,
                area_hectares=area_hectares(geometry),
            )
            for number, geometry in enumerate(boundaries)
        ]
        db.session.add_all(projects)
        db.session.commit()
        ids = [project.id for project in projects]
        db.session.remove()
        db.engine.dispose()
    return token, ids
