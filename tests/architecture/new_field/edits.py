"""The edits that add a text and a number to projects, and a text to assets.

The text of projects is that of ``docs/recipes/field.md``, which is followed as it stands; the
others are beside it.
"""

from __future__ import annotations

from pathlib import Path

from tests.docs import recipes
from tests.docs.recipes import Edit

MOST_FILES = 6

MORE = (
    Edit(
        "app/models/project.py",
        "    planting_year: Mapped[int | None]\n",
        "before",
        "geometry: Mapped[str | None] = mapped_column(Text)",
    ),
    Edit(
        "app/policy/fields.py",
        """    Field(
        "planting_year", kinds.INTEGER, 1998, description="When it was planted.", nullable=True,
        writable="always", lowest=1800, highest=2100,
        filters=("equals", "range", "present"),
    ),
""",
        "before",
        'Field("geometry", kinds.BOUNDARY, label="Boundary", nullable=True, writable="always",',
    ),
    Edit(
        "app/models/asset.py",
        "    maker: Mapped[str | None] = mapped_column(String(40))\n",
        "before",
        "location: Mapped[str | None] = mapped_column(Text)",
    ),
    Edit(
        "app/policy/fields.py",
        """        "maker", kinds.TEXT, "Vaisala", nullable=True, writable="always", longest=40,
        filters=("equals",),
    ),
    Field(
""",
        "before",
        '"location", kinds.POINT, {"type": "Point", "coordinates": [-122.6512, 43.6638]},',
    ),
)
_COLUMNS = """    op.add_column("projects", sa.Column("planting_year", sa.Integer))
    op.add_column("assets", sa.Column("maker", sa.String(40)))
"""


def add_fields(folder: Path) -> set[str]:
    """Copy the repository into a folder and add all three. Returns the files that differ."""
    recipes.copy_checkout(folder)
    followed = list(recipes.edits((recipes.FOLDER / "field.md").read_text()))
    (migration,) = (each.path for each in followed if each.path.startswith("migrations/"))
    for edit in (*followed, *MORE, Edit(migration, _COLUMNS)):
        edit.apply(folder)
    return {edit.path for edit in followed + list(MORE) if not edit.path.startswith("tests/")}
