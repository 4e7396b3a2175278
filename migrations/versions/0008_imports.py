"""Imports: files, their features, and what becomes of them

Revision: 0008
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

runs_earlier_code = True

KEY = sa.String(40).with_variant(sa.String(40, collation="C"), "postgresql")
TIME = sa.DateTime(timezone=True).with_variant(sa.String(24), "sqlite")


def upgrade() -> None:
    create_imports()
    create_import_files()
    create_import_features()


def create_imports() -> None:
    op.create_table(
        "imports",
        sa.Column("id", KEY, nullable=False),
        sa.Column("account_id", KEY, nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("project_id", KEY, nullable=True),
        sa.Column("source", sa.String(length=10), nullable=False),
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("user_email", sa.String(length=254), nullable=False),
        sa.Column("filename", sa.String(length=200), nullable=False),
        sa.Column("upload_id", KEY, nullable=True),
        sa.Column("format", sa.String(length=10), nullable=True),
        sa.Column("crs", sa.Text(), nullable=True),
        sa.Column("given_crs", sa.Text(), nullable=True),
        sa.Column("status", sa.String(length=10), nullable=False),
        sa.Column("layers", sa.JSON(), nullable=False),
        sa.Column("layer", sa.Text(), nullable=True),
        sa.Column("mapping", sa.JSON(), nullable=True),
        sa.Column("match", sa.String(length=20), nullable=True),
        sa.Column("close_lines", sa.Boolean(), nullable=False),
        sa.Column("counts", sa.JSON(), nullable=False),
        sa.Column("notes", sa.JSON(), nullable=False),
        sa.Column("progress_done", sa.Integer(), nullable=False),
        sa.Column("progress_total", sa.Integer(), nullable=False),
        sa.Column("message", sa.Text(), nullable=True),
        sa.Column("lease", KEY, nullable=True),
        sa.Column("leased_until", TIME, nullable=True),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
        sa.CheckConstraint("kind IN ('projects', 'assets')", name="ck_imports_kind"),
        sa.CheckConstraint(
            "status IN ('reading', 'ready', 'applying', 'applied', 'undoing', 'undone', 'failed', "
            "'canceled')",
            name="ck_imports_status",
        ),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["accounts.id"],
            name="fk_imports_account_id_accounts",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_imports"),
    )
    op.create_index(
        "ix_imports_account_id_created_at_id", "imports", ["account_id", "created_at", "id"]
    )
    op.create_index("ix_imports_created_at", "imports", ["created_at"])
    op.create_index("ix_imports_status", "imports", ["status"])


def create_import_files() -> None:
    op.create_table(
        "import_files",
        sa.Column("upload_id", KEY, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("account_id", KEY, nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["accounts.id"],
            name="fk_import_files_account_id_accounts",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("upload_id", "number", name="pk_import_files"),
    )
    op.create_index("ix_import_files_created_at", "import_files", ["created_at"])


def create_import_features() -> None:
    op.create_table(
        "import_features",
        sa.Column("import_id", KEY, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("account_id", KEY, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("verdict", sa.String(length=10), nullable=False),
        sa.Column("target_id", KEY, nullable=True),
        sa.Column("area_m2", sa.BigInteger(), nullable=True),
        sa.Column("previous_area_m2", sa.BigInteger(), nullable=True),
        sa.Column("changes", sa.JSON(), nullable=False),
        sa.Column("is_namesake", sa.Boolean(), nullable=False),
        sa.Column("problems", sa.JSON(), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=True),
        sa.Column("written_at", TIME, nullable=True),
        sa.Column("values", sa.JSON(), nullable=False),
        sa.Column("before", sa.JSON(), nullable=True),
        sa.Column("geometry", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "verdict IN ('new', 'changed', 'same', 'rejected')", name="ck_import_features_verdict"
        ),
        sa.ForeignKeyConstraint(
            ["import_id"],
            ["imports.id"],
            name="fk_import_features_import_id_imports",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("import_id", "number", name="pk_import_features"),
    )
    op.create_index(
        "ix_import_features_import_id_verdict_number",
        "import_features",
        ["import_id", "verdict", "number"],
    )
    op.create_index("ix_import_features_target_id", "import_features", ["target_id"])
