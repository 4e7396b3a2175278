"""The same resource as a conventional Flask application, for ``bench.compare``.

It is written as the documentation of its libraries shows: flask-smorest's blueprints and
pagination, objects of SQLAlchemy through Flask-SQLAlchemy, marshmallow for what comes in and goes
out, Flask-Limiter with its own storage for Redis. It authenticates, limits, stores and measures as
Canopy does, and does none of the rest: no events, audit log, counters of usage, text and box
indexes, former boundaries, entity tags, request ids or log lines.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import sqlite3
import uuid
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

import marshmallow as ma
from flask import Flask, g, request
from flask.views import MethodView
from flask_limiter import Limiter
from flask_smorest import Api, Blueprint, Page, abort
from flask_sqlalchemy import SQLAlchemy
from pyproj import Geod
from shapely import is_valid_reason
from shapely.errors import ShapelyError
from shapely.geometry import shape
from sqlalchemy import JSON, DateTime, ForeignKey, Index, String, Text, UniqueConstraint, event
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship
from sqlalchemy.pool import ConnectionPoolEntry


class Base(DeclarativeBase):
    pass


db = SQLAlchemy(model_class=Base)


def _new_id() -> str:
    return str(uuid.uuid4())


def _now() -> datetime:
    return datetime.now(UTC)


class Account(db.Model):  # type: ignore[name-defined]
    __tablename__ = "accounts"

    id: Mapped[str] = mapped_column(String(36), primary_key=True, default=_new_id)
    name: Mapped[str] = mapped_column(String(200))
    requests_per_minute: Mapped[int]
    requests_per_day: Mapped[int]


class ApiKey(db.Model):  # type: ignore[name-defined]
    __tablename__ = "api_keys"

    id: Mapped[str] = mapped_column(String(36), primary_key=True, default=_new_id)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id"))
    token_hash: Mapped[str] = mapped_column(String(64), unique=True)
    account: Mapped[Account] = relationship(lazy="joined")


class Project(db.Model):  # type: ignore[name-defined]
    __tablename__ = "projects"
    __table_args__ = (
        UniqueConstraint("account_id", "name"),
        Index(None, "account_id", "created_at"),
    )

    id: Mapped[str] = mapped_column(String(36), primary_key=True, default=_new_id)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id"))
    name: Mapped[str] = mapped_column(String(200))
    description: Mapped[str | None] = mapped_column(Text)
    status: Mapped[str] = mapped_column(String(10), default="active")
    geometry: Mapped[dict[str, Any] | None] = mapped_column(JSON)
    area_hectares: Mapped[float | None]
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), default=_now)
    updated_at: Mapped[datetime] = mapped_column(
        DateTime(timezone=True), default=_now, onupdate=_now
    )


_GEOD = Geod(ellps="WGS84")


class ProjectSchema(ma.Schema):
    id = ma.fields.String(dump_only=True)
    name = ma.fields.String(required=True, validate=ma.validate.Length(1, 200))
    description = ma.fields.String(allow_none=True, validate=ma.validate.Length(max=10_000))
    status = ma.fields.String(dump_only=True)
    geometry = ma.fields.Dict(allow_none=True)
    area_hectares = ma.fields.Float(dump_only=True)
    created_at = ma.fields.DateTime(dump_only=True)
    updated_at = ma.fields.DateTime(dump_only=True)

    @ma.post_load
    def _measure(self, values: dict[str, Any], **_: Any) -> dict[str, Any]:
        """Check the boundary, and add its area."""
        if values.get("geometry") is not None:
            values["area_hectares"] = area_hectares(values["geometry"])
        return values


def area_hectares(geometry: dict[str, Any]) -> float:
    """The geodesic area of a boundary. Raises ValidationError when it is not valid."""
    if geometry.get("type") not in ("Polygon", "MultiPolygon"):
        raise ma.ValidationError("Must be a Polygon or a MultiPolygon.", "geometry")
    try:
        boundary = shape(geometry)
    except (ShapelyError, KeyError, TypeError, ValueError) as error:
        raise ma.ValidationError("Must be a GeoJSON geometry.", "geometry") from error
    if not boundary.is_valid:
        raise ma.ValidationError(is_valid_reason(boundary), "geometry")
    area, _ = _GEOD.geometry_area_perimeter(boundary)
    return abs(float(area)) / 10_000


blp = Blueprint("projects", __name__, url_prefix="/v1/projects")


class QueryPage(Page):  # type: ignore[misc]
    """A page of a query, as flask-smorest's documentation has it."""

    @property
    def item_count(self) -> int:
        return int(self.collection.count())


@blp.route("")
class Projects(MethodView):
    @blp.response(200, ProjectSchema(many=True))
    @blp.paginate(QueryPage)
    def get(self) -> Any:
        """List projects."""
        mine = db.session.query(Project).filter_by(account_id=g.account.id)
        return mine.order_by(Project.created_at.desc(), Project.id)

    @blp.arguments(ProjectSchema)
    @blp.response(201, ProjectSchema)
    def post(self, values: dict[str, Any]) -> Project:
        """Create a project."""
        project = Project(account_id=g.account.id, **values)
        db.session.add(project)
        try:
            db.session.commit()
        except IntegrityError:
            abort(409, message="There is a project of this name.")
        return project


@blp.route("/<project_id>")
class ProjectById(MethodView):
    @blp.response(200, ProjectSchema)
    def get(self, project_id: str) -> Project:
        """Read a project."""
        mine = db.select(Project).filter_by(id=project_id, account_id=g.account.id)
        return db.first_or_404(mine)  # type: ignore[no-any-return]


DATABASE = "CONVENTIONAL_DATABASE_URL"
REDIS = "CONVENTIONAL_REDIS_URL"


def create_app(environ: Mapping[str, str] = os.environ) -> Flask:
    app = Flask(__name__)
    app.config.update(
        API_TITLE="Projects",
        API_VERSION="v1",
        OPENAPI_VERSION="3.1.0",
        SQLALCHEMY_DATABASE_URI=environ[DATABASE],
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
