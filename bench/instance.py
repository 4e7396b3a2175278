"""An instance with data to measure: one account, and projects with polygons."""

from __future__ import annotations

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
from tests.make.wavy import polygon

PLANS = "[bench]\nrequests_per_minute = 100_000_000\nrequests_per_day = 1_000_000_000\n"


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
