"""An instance with data to measure: one account, and projects with polygons."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from pathlib import Path

from app.account.credentials.service import create_credential
from app.account.service import create_account
from app.auth.principal import Principal
from app.db.extensions import db
from app.db.migrations import upgrade
from app.factory import create_app
from app.geometry import read_boundary
from app.policy.permissions import expand
from app.projects.service import create_project
from config import load_settings

PLANS = "[bench]\nrequests_per_minute = 100_000_000\nrequests_per_day = 1_000_000_000\n"


@dataclass(frozen=True)
class Instance:
    """How to reach the data: settings, an API key, the ids of projects."""

    environ: dict[str, str]
    key: str
    project_ids: list[str]


def wavy_ring(positions: int, west: float, south: float, size: float = 0.2) -> list[list[float]]:
    """A closed ring of so many positions around a centre, with 7 decimals, that never crosses."""
    rng = random.Random(positions * 7919 + int(west * 1000))
    ring = []
    for step in range(positions - 1):
        angle = 2 * math.pi * step / (positions - 1)
        radius = size * (1 + 0.2 * math.sin(7 * angle) + 0.001 * rng.random())
        ring.append(
            [round(west + radius * math.cos(angle), 7), round(south + radius * math.sin(angle), 7)]
        )
    return [*ring, ring[0]]


def polygon(positions: int, west: float = 10.0, south: float = 50.0) -> dict[str, object]:
    return {"type": "Polygon", "coordinates": [wavy_ring(positions, west, south)]}


def boundary(number: int) -> dict[str, object]:
    """The boundary of a project that is read: 51 positions, elsewhere for each number."""
    return polygon(51, -120 + number * 0.01, 40)


def make_instance(folder: Path, *, database_url: str = "", projects: int = 300) -> Instance:
    """An account with ``projects`` projects of 51 positions each, on a plan with limits of the
    minute and of the day that are never reached."""
    folder.mkdir(parents=True, exist_ok=True)
    plans = folder / "plans.toml"
    plans.write_text(PLANS)
    environ = {
        "PLANS_FILE": str(plans),
        "INSTANCE_PATH": str(folder),
        "DATABASE_URL": database_url,
        "LOG_FORMAT": "json",
        "LOG_LEVEL": "info",
    }
    app = create_app(load_settings(environ))
    with app.app_context():
        upgrade()
        made = create_account(name="Bench", owner_email="bench@example.org", plan="bench")
        credential, key = create_credential(
            made.account.id, kind="api_key", name="bench", permissions=["admin"]
        )
        principal = Principal(
            "api_key", credential.id, made.account.id, "Bench", "bench",
            expand(["admin"]), made.owner.id, made.owner.email,
        )  # fmt: skip
        ids = [
            create_project(
                principal,
                name=f"Forest {number}",
                description="Measured",
                geometry=read_boundary(boundary(number)),
            )["id"]
            for number in range(projects)
        ]
        db.session.commit()
    return Instance(environ, key, ids)
