"""The edits that add a text and a number to projects, and a text to assets.

``docs/tour.md`` describes them for a newcomer.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[3]
# What a running service and the benchmarks need.
COPIED = (
    "app",
    "bench",
    "migrations",
    "config.py",
    "wsgi.py",
)
MOST_FILES = 6


class Edit(NamedTuple):
    """Lines that are put in front of a line of a file, or a new file where there is none."""

    path: str
    line: str
    added: str


def migration(revision: str, down_revision: str) -> str:
    return f'''"""Regions of projects and makers of assets

Revision: {revision}
"""

import sqlalchemy as sa
from alembic import op

revision = "{revision}"
down_revision = "{down_revision}"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("projects", sa.Column("region", sa.String(40)))
    op.add_column("projects", sa.Column("planting_year", sa.Integer))
    op.add_column("assets", sa.Column("maker", sa.String(40)))
'''


EDITS = (
    Edit(
        "app/models/project.py",
        "    geometry: Mapped[str | None] = mapped_column(Text)\n",
        "    region: Mapped[str | None] = mapped_column(String(40))\n"
        "    planting_year: Mapped[int | None]\n",
    ),
    Edit(
        "app/policy/fields.py",
        '    Field("geometry", kinds.BOUNDARY, ',
        """    Field(
        "region", kinds.TEXT, "Cascades", nullable=True, writable="always", longest=40, filter=True,
        properties=("region",),
    ),
    Field(
        "planting_year", kinds.INTEGER, 1998, description="When it was planted.", nullable=True,
        writable="always", lowest=1800, highest=2100, filter=True, properties=("planted",),
    ),
""",
    ),
    Edit(
        "app/models/asset.py",
        "    location: Mapped[str | None] = mapped_column(Text)\n",
        "    maker: Mapped[str | None] = mapped_column(String(40))\n",
    ),
    Edit(
        "app/policy/fields.py",
        '    Field(\n        "location", kinds.POINT, ',
        """    Field(
        "maker", kinds.TEXT, "Vaisala", nullable=True, writable="always", longest=40, filter=True,
    ),
""",
    ),
)


def add_fields(folder: Path) -> set[str]:
    """Copy the repository into a folder and add both fields. Returns the files that differ."""
    for name in COPIED:
        source, target = ROOT / name, folder / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    latest = max(path.name[:4] for path in (ROOT / "migrations/versions").glob("0*.py"))
    revision = f"{int(latest) + 1:04}"
    path = f"migrations/versions/{revision}_new_fields.py"
    (folder / path).write_text(migration(revision, latest))
    for edit in EDITS:
        text = (folder / edit.path).read_text()
        assert text.count(edit.line) == 1, f"{edit.path} has no such line, or several: {edit.line}"
        (folder / edit.path).write_text(text.replace(edit.line, edit.added + edit.line))
    return {path, *(edit.path for edit in EDITS)}
