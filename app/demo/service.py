"""Creating the demo account."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, NamedTuple

from sqlalchemy import bindparam, select

from app.account.credentials.service import create_credential
from app.account.service import create_account
from app.assets.service import create_asset
from app.auth.operator import acting_for
from app.auth.principal import Principal
from app.db.queries import CompiledQuery
from app.geometry import read_boundary, read_point
from app.models import Account
from app.people.instance_operators import add_operator
from app.people.service import verify_address
from app.projects.service import create_project
from app.settings.current import current_settings
from app.values.strict_json import dumps, loads
from app.values.text import slugify

NAME: Final = "Canopy demo"
OWNER: Final = "owner@demo.example"
EXAMPLE: Final = "Cottage Grove Ranger District"  # has the shortest boundary

_FOLDER: Final = Path(__file__).parent
_ACCOUNT: Final = CompiledQuery(
    select(Account.id, Account.slug).where(Account.slug == bindparam("slug")),
)


class Demo(NamedTuple):
    """The created demo account. ``owner_password`` is None if its owner already had one."""

    account_id: str
    slug: str
    owner_id: str
    owner_email: str
    owner_password: str | None
    api_key: str
    projects: int
    assets: int
    example_id: str  # id of the project EXAMPLE


def find_demo() -> Any:
    """Return the ``id`` and ``slug`` of the demo account, or None."""
    return _ACCOUNT.first(slug=slugify(NAME))


def make_demo() -> Demo:
    """Create the demo account, on the plan enterprise, in the caller's transaction.

    On a developer's machine, its new owner becomes an operator.
    """
    new = create_account(name=NAME, owner_email=OWNER, owner_name="Demo owner", plan="enterprise")
    if new.password is not None and not current_settings().production:
        verify_address(new.owner.id, is_audited=True)
        add_operator(new.owner.id)
    principal = acting_for(new.account, new.owner)
    projects = _make_projects(principal)
    assets = _make_assets(principal, projects)
    _, key = create_credential(
        new.account.id, kind="api_key", name="Demo key", permissions=["admin"]
    )
    return Demo(
        account_id=new.account.id,
        slug=new.account.slug,
        owner_id=new.owner.id,
        owner_email=new.owner.email,
        owner_password=new.password,
        api_key=key,
        projects=len(projects),
        assets=assets,
        example_id=projects[EXAMPLE],
    )


def _make_projects(principal: Principal) -> dict[str, str]:
    """Create a project for each district. Returns {name: id}."""
    ids = {}
    for feature in _read_file("districts.geojson")["features"]:
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
    assets = _read_file("assets.json")
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


def _read_file(name: str) -> Any:
    return loads((_FOLDER / name).read_bytes())
