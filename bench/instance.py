"""An instance with data to measure: one account, and projects with polygons."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from app.db.extensions import db
from app.geometry import read_boundary
from app.projects.service import create_project
from tests.make.bulk import make_accounts
from tests.make.wavy import polygon

PLANS = "[enterprise]\nrequests_per_minute = 100_000_000\nrequests_per_day = 1_000_000_000\n"


@dataclass(frozen=True)
class Instance:
    """How to reach the data: settings, an API key, the ids of projects."""

    environ: dict[str, str]
    key: str
    project_ids: list[str]

    @property
    def headers(self) -> dict[str, str]:
        return authorization(self.key)


def authorization(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}


def boundary(number: int) -> dict[str, object]:
    """The boundary of a project that is read: 51 positions, elsewhere for each number."""
    return polygon(51, -120 + number * 0.01, 40)


def make_instance(folder: Path, *, database_url: str = "", projects: int = 300) -> Instance:
    """An account with ``projects`` projects of 51 positions each, on a plan with limits of the
    minute and of the day that are never reached."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "plans.toml").write_text(PLANS)
    settings = {"PLANS_FILE": str(folder / "plans.toml"), "RATE_LIMIT_DISABLED": "false"}
    settings |= {"LOG_FORMAT": "json", "LOG_LEVEL": "info"}
    app, environ, (principal,), key = make_accounts(folder, database_url, 1, **settings)
    with app.app_context():
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
