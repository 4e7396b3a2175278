"""Which statements count as going around the tenant filter.

Each of these a part of ``leaks`` alone finds. That what the service sends is no leak, the rest of
the suite shows.
"""

from __future__ import annotations

import pytest

from tests.leaks import is_of_operators, leaks

OWN = "projects.account_id = :account_id"
COLUMNS = "projects.row AS row, projects.account_id AS account_id"
GRAMS = (
    "canopy_grams(projects.account_id, projects.search_text) @> array((SELECT "
    "(hashtextextended(%(account_id)s::VARCHAR, 0) & -4294967296) | 1 AS one"
    " FROM unnest(%(grams)s::VARCHAR[]) AS gram))"
)
BOX = "canopy_box(projects.account_id, projects.west) && canopy_box(:account_id, :west_{})"
MARK = "projects_box.mark_from <= :mark AND projects_box.mark_to >= :mark"
ASKED = "projects_box.west <= :east AND projects_box.east >= :west"
OF_WEBHOOK = "SELECT count(*) AS total FROM delivery_logs WHERE delivery_logs.webhook_id = "
OWN_WEBHOOK = (
    "(SELECT webhooks.id AS id FROM webhooks WHERE webhooks.account_id = %(account_id)s::VARCHAR"
    " AND webhooks.id = :webhook_id)"
)
WHO_ASKS = (
    "SELECT credentials.id, CAST(credentials.permissions AS TEXT) AS permissions FROM credentials"
    " JOIN accounts ON accounts.id = credentials.account_id"
    " JOIN users ON users.id = credentials.created_by WHERE credentials."
)
LAST_USE = (
    "UPDATE credentials SET {}=?, last_used_address=? WHERE credentials.{} = "
    "(SELECT credentials.id FROM credentials WHERE credentials.id = ?{})"
)


LEAKS = [
    "SELECT projects.account_id FROM projects WHERE projects.id = ?",
    "SELECT projects.id FROM projects WHERE projects.account_id IS NOT NULL",
    "SELECT projects.id FROM projects WHERE projects.account_id <> ?",
    "SELECT projects.id FROM projects WHERE projects.account_id = projects.account_id",
    f"SELECT projects.id FROM projects WHERE NOT ({OWN})",
    f"SELECT projects.id FROM projects WHERE {OWN} OR projects.name = ?",
    f"SELECT projects.id FROM projects WHERE ({OWN} OR 1 = 1) AND projects.name = ?",
    f"SELECT projects.id FROM projects ORDER BY {OWN}",
    "SELECT projects.name FROM public.projects",
    "SELECT 1 FROM accounts JOIN memberships ON true",
    "SELECT 1 FROM accounts JOIN memberships ON memberships.account_id = accounts.id "
    "WHERE accounts.id = ?",
    "INSERT INTO projects (id) VALUES (?)",
    "UPDATE projects SET name=? WHERE projects.row = ?",
    "UPDATE projects SET account_id = ? WHERE projects.row = ?",
    "DELETE FROM assets WHERE assets.id = ?",
    "DELETE FROM assets",
    f"{OF_WEBHOOK}:webhook_id",
    f"{OF_WEBHOOK}(SELECT webhooks.id AS id FROM webhooks WHERE webhooks.id = :webhook_id)",
    f"{OF_WEBHOOK}{OWN_WEBHOOK} OR status = ?",
    f"SELECT assets.id FROM projects, assets WHERE {OWN}",
    f"SELECT assets.id FROM projects JOIN assets ON projects.id = project_id WHERE {OWN}",
    f"SELECT 1 FROM (projects JOIN assets ON projects.id = assets.project_id) WHERE {OWN}",
    "SELECT one.id FROM projects AS one, projects AS other WHERE one.account_id = ?",
    f"SELECT 1 FROM projects WHERE {OWN} AND EXISTS (SELECT 1 FROM assets WHERE assets.id = ?)",
    f"SELECT id FROM projects WHERE {OWN} UNION SELECT id FROM projects",
    f"SELECT id FROM projects UNION SELECT id FROM projects WHERE {OWN}",
    "SELECT projects.id FROM projects WHERE "
    f"(SELECT count(*) = 0 FROM users WHERE users.id = ? AND {OWN} AND users.name = ?)",
    f"SELECT users.id FROM users WHERE users.id IN (SELECT {COLUMNS} FROM projects)",
    f"SELECT found.row FROM (SELECT {COLUMNS} FROM projects) AS found WHERE found.row = ?",
    "SELECT found.row FROM (SELECT projects.row, assets.account_id AS account_id FROM projects,"
    " assets) AS found WHERE found.account_id = ?",
    "WITH found AS (SELECT projects.id FROM projects) SELECT found.id FROM found",
    f"SELECT projects.name AS name FROM projects WHERE {GRAMS}",
    f"SELECT projects.row AS row FROM projects WHERE {GRAMS.replace('account_id)s', 'word)s')}",
    f"SELECT projects.row AS row FROM projects WHERE {BOX.format(0)} OR projects.west < ?",
    "SELECT projects_text.rowid FROM projects_text",
    f"SELECT projects_box.row FROM projects_box WHERE {ASKED}",
    f"SELECT projects_box.row FROM projects_box WHERE {MARK} UNION ALL "
    f"SELECT projects_box.row FROM projects_box WHERE {ASKED}",
    "SELECT credentials.id FROM credentials WHERE credentials.id = ?",
    WHO_ASKS + "name = :token_hash",
    LAST_USE.format("revoked_at", "id", ""),
    LAST_USE.format("last_used_at", "kind", ""),
]


# What the pages of operators may not read either.
OF_ACCOUNTS = [
    "SELECT projects.name AS name FROM projects",
    "SELECT accounts.id AS id, projects.name AS name FROM accounts JOIN projects"
    " ON projects.account_id = accounts.id",
    "SELECT accounts.id AS id, (SELECT max(projects.name) FROM projects) AS name FROM accounts"
    " LEFT OUTER JOIN account_usage ON account_usage.account_id = accounts.id",
    "SELECT credentials.account_id, max(credentials.token_hash) AS used_at FROM credentials"
    " WHERE credentials.account_id = ANY (:ids) GROUP BY credentials.account_id",
    "SELECT memberships.account_id, max(memberships.last_active_at) AS used_at"
    " FROM memberships GROUP BY memberships.account_id",
]


def test_a_statement_that_does_not_say_whose_rows_it_means_is_a_leak(
    subtests: pytest.Subtests,
) -> None:
    for statement in (*LEAKS, *OF_ACCOUNTS):
        with subtests.test(statement):
            assert leaks(statement)
            assert statement in LEAKS or not is_of_operators(statement)
