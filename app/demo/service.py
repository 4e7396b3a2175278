"""Creating the demo account."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, NamedTuple

from flask import current_app
from sqlalchemy import bindparam, select

from app.account.credentials.service import create_credential
from app.account.service import NewAccount, create_account
from app.assets.service import create_asset
from app.auth.operator import acting_for
from app.auth.principal import Principal
from app.db.queries import CompiledQuery
from app.geometry import read_boundary, read_point
from app.models import Account
from app.people.instance_operators import add_operator
from app.people.service import verify_address
from app.projects.service import create_project
from app.values.strict_json import dumps, loads
from app.values.text import slugify

NAME: Final = "Canopy demo"
OWNER: Final = "owner@demo.example"
EXAMPLE: Final = "Cottage Grove Ranger District"  # the one with the shortest boundary

_FOLDER: Final = Path(__file__).parent
_FOUND: Final = CompiledQuery(
    select(Account.id, Account.slug).where(Account.slug == bindparam("slug")),
)


class Demo(NamedTuple):
    """The demo account as it was created. ``password`` is None when its owner had one already."""

    account_id: str
    slug: str
    owner_id: str
    owner_email: str
    password: str | None
    api_key: str
    projects: int
    assets: int
    example_id: str  # of the project named EXAMPLE


def find_demo() -> Any:
    """The ``id`` and ``slug`` of the demo account, or None when there is none."""
    return _FOUND.first(slug=slugify(NAME))


def make_demo() -> Demo:
    """Create the demo account, on the plan enterprise, in the caller's transaction.

    On a developer's machine its new owner becomes an operator, to find the page of operators.
    """
    made = create_account(name=NAME, owner_email=OWNER, owner_name="Demo owner", plan="enterprise")
    if made.password is not None and not current_app.config["SETTINGS"].production:
        verify_address(made.owner.id, is_audited=True)
        add_operator(made.owner.id)
    operator = acting_for(made.account, made.owner)
    projects = _make_projects(operator)
    assets = _make_assets(operator, projects)
    return Demo(
        account_id=made.account.id,
        slug=made.account.slug,
        owner_id=made.owner.id,
        owner_email=made.owner.email,
        password=made.password,
        api_key=_make_key(made),
        projects=len(projects),
        assets=assets,
        example_id=projects[EXAMPLE],
    )


def _make_key(made: NewAccount) -> str:
    _, key = create_credential(
        made.account.id,
        kind="api_key",
        name="Demo key",
        permissions=["admin"],
        created_by=made.owner.id,
    )
    return key


def _make_projects(principal: Principal) -> dict[str, str]:
    """Create a project for each district. Returns their ids by name."""
    ids = {}
    for feature in _read("districts.geojson")["features"]:
        properties = feature["properties"]
        project = create_project(
            principal,
            name=properties["district"],
            description=f"Part of the {properties['forest']}, Pacific Northwest Region.",
            geometry=read_boundary(feature["geometry"]),
        )
        ids[project["name"]] = project["id"]
    return ids


def _make_assets(principal: Principal, projects: dict[str, str]) -> int:
    assets = _read("assets.json")
    for asset in assets:
        create_asset(
            principal,
            projects[asset["project"]],
            name=asset["name"],
            type=asset["type"],
            status=asset["status"],
            location=read_point(asset["location"]),
            metadata_json=dumps(asset["metadata"]).decode(),
        )
    return len(assets)


def _read(name: str) -> Any:
    return loads((_FOLDER / name).read_bytes())
