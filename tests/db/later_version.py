"""The migrations of a version that is still to come."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from app.db import revisions

REVISION = '''"""A revision to come"""

from alembic import op
import sqlalchemy as sa

revision, down_revision = {revision!r}, {former!r}
branch_labels = depends_on = None
runs_earlier_code = {runs_earlier_code}


def upgrade():
    op.add_column("projects", sa.Column("note_{revision}", sa.Text()))
'''


def folder_with_revisions(folder: Path, *runs_earlier_code: bool) -> str:
    """The migrations, and one more for each of these."""
    shutil.copytree(revisions.FOLDER, folder / "migrations")
    former = revisions.newest_revision()
    for number, value in enumerate(runs_earlier_code, int(former) + 1):
        revision = f"{number:04}"
        code = REVISION.format(revision=revision, former=former, runs_earlier_code=value)
        (folder / "migrations" / "versions" / f"{revision}_to_come.py").write_text(code)
        former = revision
    return str(folder / "migrations")


def install(patch: pytest.MonkeyPatch, folder: str) -> None:
    """Let this version have these migrations."""
    for module in ("migrations", "revisions"):
        patch.setattr(f"app.db.{module}.FOLDER", folder)
