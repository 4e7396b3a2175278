"""Whether a statement of SQL reaches rows of accounts without saying whose.

It is no parser of SQL. It knows the forms that SQLAlchemy writes for this service; another form of
a statement on a table of accounts counts as a leak.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

from app.models import Account

TENANT_TABLES: Final = sorted(
    table.name for table in Account.metadata.tables.values() if "account_id" in table.columns
)

# Tables of which people may ask for their own rows, in all of their accounts
# (``app.auth.tenant.own_columns_of``).
PERSONAL_TABLES: Final = ("memberships", "oauth_authorizations", "oauth_consents")

# Tables of which rows may be asked for by the webhook that they belong to, where the statement says
# whose that is; their indexes have the webhook and not the account.
OF_WEBHOOKS: Final = ("delivery_logs",)

_AMONG: Final = r"(?:= ANY \(:ids\)|IN \(SELECT anon_1\.value FROM json_each\(:ids\) AS anon_1\))"
_OPEN_INVITATION: Final = (
    r"memberships\.invitation_hash = :\w+ AND memberships\.joined_at IS NULL"
    r" AND memberships\.invitation_expires_at > :\w+"
)
# Statements that say in another way whose row they mean; as ``_plain`` writes them.
EXCEPTIONS: Final = (
    # Finds out which account is asking: only who holds a token can send what has its hash.
    r"SELECT (?:(?! FROM ).)+ FROM credentials"
    r" JOIN accounts ON accounts\.id = credentials\.account_id"
    r" JOIN users ON users\.id = credentials\.created_by WHERE credentials\.token_hash = :\w+",
    # Notes when a credential was used: the one that the statement above has just accepted, by its
    # primary key.
    r"UPDATE credentials SET last_used_at=:\w+, last_used_address=:\w+ WHERE credentials\.id = "
    r"\(SELECT credentials\.id FROM credentials WHERE credentials\.id = :\w+"
    r"(?: FOR UPDATE SKIP LOCKED)?\)",
    # A person who is deleted, with all keys and tokens that they made, which are revoked.
    r"DELETE FROM credentials WHERE credentials\.created_by = :\w+",
    # Finds out who is signed in, and their role in the account that they work in: likewise.
    r"SELECT (?:(?! FROM ).)+ FROM sessions JOIN users ON users\.id = sessions\.user_id"
    r" LEFT OUTER JOIN memberships ON memberships\.account_id = sessions\.current_account_id"
    r" AND memberships\.user_id = sessions\.user_id AND memberships\.joined_at IS NOT NULL"
    r" LEFT OUTER JOIN accounts ON accounts\.id = memberships\.account_id"
    r" WHERE sessions\.token_hash = :\w+",
    # Finds out which account somebody is invited to, and lets them in: only who got the link can
    # send what has its hash.
    r"SELECT (?:(?! FROM ).)+ FROM sign_in_identities WHERE (?:(?! FROM ).)+ FROM memberships"
    r" JOIN accounts ON accounts\.id = memberships\.account_id"
    r" JOIN users ON users\.id = memberships\.user_id WHERE " + _OPEN_INVITATION,
    r"UPDATE memberships SET (?:(?! WHERE ).)+ WHERE "
    + _OPEN_INVITATION
    + r" RETURNING (?:memberships\.)?account_id, (?:memberships\.)?user_id",
    # Finds out which application is asking, by an id that is no secret; what it shows of it anybody
    # is shown who is asked to consent.
    r"SELECT (?:(?! FROM ).)+ FROM oauth_applications"
    r" JOIN accounts ON accounts\.id = oauth_applications\.account_id"
    r" WHERE oauth_applications\.id = :\w+",
    # Finds out what a code or a token is for: only who holds it can send what has its hash.
    r"SELECT (?:(?! FROM ).)+ FROM oauth_authorizations"
    r" WHERE oauth_authorizations\.code_hash = :\w+",
    r"SELECT (?:(?! FROM ).)+ FROM oauth_tokens"
    r" JOIN oauth_authorizations ON oauth_authorizations\.id = oauth_tokens\.authorization_id"
    r" WHERE oauth_tokens\.token_hash = :\w+",
    # The same for a request to the API, with the role of the person whom the token is of.
    r"SELECT (?:(?! FROM ).)+ FROM oauth_tokens"
    r" JOIN oauth_authorizations ON oauth_authorizations\.id = oauth_tokens\.authorization_id"
    r" JOIN memberships ON memberships\.account_id = oauth_authorizations\.account_id"
    r" AND memberships\.user_id = oauth_authorizations\.user_id"
    r" JOIN accounts ON accounts\.id = oauth_authorizations\.account_id"
    r" JOIN users ON users\.id = oauth_authorizations\.user_id"
    r" WHERE oauth_tokens\.token_hash = :\w+ AND oauth_tokens\.kind = :\w+",
    # A person's own consents in all their accounts, with the name of each application.
    r"SELECT (?:(?! FROM ).)+, \(SELECT max\(oauth_authorizations\.last_used_at\) AS \w+"
    r" FROM oauth_authorizations WHERE oauth_authorizations\.user_id = :own_user_id"
    r" AND (?:(?! FROM ).)+\) AS last_used_at FROM oauth_consents"
    r" JOIN accounts ON accounts\.id = oauth_consents\.account_id"
    r" JOIN oauth_applications ON oauth_applications\.id = oauth_consents\.application_id"
    r" JOIN accounts AS (accounts_1) ON \1\.id = oauth_applications\.account_id"
    r" WHERE oauth_consents\.user_id = :own_user_id ORDER BY (?:(?! FROM ).)+",
    # How many people of all accounts have given access to the applications of one, and when one of
    # those was last used.
    r"SELECT oauth_applications\.id AS id, count\(DISTINCT oauth_consents\.user_id\) AS people,"
    r" max\(oauth_authorizations\.last_used_at\) AS last_used_at FROM oauth_applications"
    r" LEFT OUTER JOIN oauth_consents ON oauth_consents\.application_id = oauth_applications\.id"
    r" LEFT OUTER JOIN oauth_authorizations ON (?:(?! WHERE ).)+"
    r" WHERE oauth_applications\.account_id = :\w+ GROUP BY oauth_applications\.id",
    # What they have granted, of which only the number of people is shown.
    r"SELECT oauth_consents\.user_id, CAST\(oauth_consents\.scopes AS TEXT\) AS scopes"
    r" FROM oauth_applications"
    r" JOIN oauth_consents ON oauth_consents\.application_id = oauth_applications\.id"
    r" WHERE oauth_applications\.account_id = :\w+ AND oauth_applications\.id = :\w+",
    # The consents that end when an application may ask for less, or is deleted.
    r"SELECT oauth_consents\.account_id, oauth_consents\.user_id, oauth_consents\.scopes"
    r" FROM oauth_consents WHERE oauth_consents\.application_id = :\w+",
    # The names of the applications to which a member has given access to the account.
    r"SELECT (?:(?! FROM ).)+ FROM oauth_consents"
    r" JOIN oauth_applications ON oauth_applications\.id = oauth_consents\.application_id"
    r" WHERE oauth_consents\.account_id = :\w+ AND oauth_consents\.user_id = :\w+"
    r" ORDER BY oauth_applications\.name, oauth_applications\.id",
    # The names of the applications that have access to an account, or have used it.
    r"SELECT DISTINCT (oauth_consents\.application_id|credential_requests\.credential_id) AS \w+,"
    r" oauth_applications\.name FROM (oauth_consents|credential_requests)"
    r" JOIN oauth_applications ON oauth_applications\.id = \1"
    r" WHERE \2\.account_id = :account_id(?: AND \1 " + _AMONG + r")?",
    # What members have granted to applications in an account, with the names of these.
    r"SELECT oauth_consents\.application_id AS (?:(?! FROM ).)+,"
    r" oauth_applications\.name AS application_name FROM oauth_consents"
    r" JOIN oauth_applications ON oauth_applications\.id = oauth_consents\.application_id"
    r" WHERE oauth_consents\.account_id = :account_id ORDER BY (?:(?! FROM ).)+",
    # The name of one that has access to an account.
    r"SELECT oauth_applications\.name AS name FROM oauth_consents"
    r" JOIN oauth_applications ON oauth_applications\.id = oauth_consents\.application_id"
    r" WHERE oauth_consents\.account_id = :\w+ AND oauth_consents\.application_id = :\w+",
    # Numbers over all accounts, for whoever holds METRICS_TOKEN.
    r"SELECT count\(\*\) AS pending, count\(claim\) AS claimed, sum\((?:(?! FROM ).)+\) AS due, "
    r"min\((?:(?! FROM ).)+\) AS oldest FROM deliveries WHERE due_at IS NOT NULL",
    # Finds out which account a customer of the payment provider is, who alone signs what names it.
    r"SELECT billing_customers\.account_id FROM billing_customers"
    r" WHERE billing_customers\.customer_id = :\w+",
)

_INVITED: Final = rf"memberships\.account_id {_AMONG} AND \S+\.joined_at IS NULL GROUP BY \S+"
# What the pages of operators read of all accounts: numbers, names and dates.
OF_OPERATORS: Final = (
    r"SELECT count\(\*\) AS accounts(?:, coalesce\(sum\(account_usage\.\w+\), :\w+\) AS \w+)+"
    r" FROM account_usage",
    r"SELECT accounts\.id AS id, (?:(?! FROM ).)+ FROM accounts"
    r" LEFT OUTER JOIN account_usage ON account_usage\.account_id = accounts\.id"
    r"(?: WHERE (?:(?! FROM ).)+)?(?: ORDER BY (?:(?! FROM ).)+)?",
    r"SELECT (memberships|credentials|oauth_authorizations)\.(account|user)_id,"
    r" max\(\1\.last_\w+\) AS used_at FROM \1 WHERE \1\.\2_id " + _AMONG + r" GROUP BY \1\.\2_id",
    rf"SELECT memberships\.account_id, count\(\*\) AS count_1 FROM memberships WHERE {_INVITED}",
    r"SELECT memberships\.user_id AS user_id, memberships\.role AS role,"
    r" (?:(?! FROM ).)+ AS joined_at, accounts\.id AS id, accounts\.name AS name FROM memberships"
    r" JOIN accounts ON accounts\.id = memberships\.account_id WHERE memberships\.user_id "
    + _AMONG
    + r" ORDER BY accounts\.name, accounts\.id",
)

Groups = Sequence[str]  # what stands in parentheses; ``§3`` in a text is the place of number 3

_GROUP = re.compile(r"\(([^()]*)\)")
_PLACE = re.compile(r"§(\d+)")
_SETS = re.compile(r"\b(?:UNION ALL|UNION|EXCEPT|INTERSECT)\b")
_INSERT = re.compile(r"\bINSERT INTO (\w+) §(\d+)")
_READ = re.compile(
    r"\b(?:FROM|UPDATE) (.*?)(?= (?:SET|WHERE|GROUP|HAVING|ORDER|LIMIT|OFFSET|FOR|RETURNING)\b|$)"
)
_WHERE = re.compile(r" WHERE (.*?)(?= (?:GROUP|HAVING|ORDER|LIMIT|OFFSET|FOR|RETURNING)\b|$)")
_SOURCE = re.compile(r"(?:\w+\.)?(\w+|§\d+)(?: AS (\w+))?")


@cache
def leaks(statement: str) -> bool:
    """Whether a statement reads or changes rows of accounts without saying which account's.

    Each table of accounts needs ``account_id = <parameter>`` in the WHERE of its own query, or of
    the one around it where it stands in a subquery of FROM that hands ``account_id`` out. A table
    with rows of people may have ``<table>.user_id = <parameter>`` instead, and one with rows of
    webhooks ``webhook_id = (SELECT …)`` that finds one of the account's. Where nothing but row
    numbers is selected, the account's mark in the condition on an index is enough
    (``app.db.search_index``). A condition counts when it must hold: on one side of an OR it does
    not.
    """
    text = _plain(statement)
    if any(re.fullmatch(form, text) for form in EXCEPTIONS):
        return False
    groups: list[str] = []

    def keep(group: re.Match[str]) -> str:
        groups.append(group[1].strip())
        return f" §{len(groups) - 1} "

    while _GROUP.search(text):
        text = _GROUP.sub(keep, text)
    return _is_open(text, groups, held=False)


def is_of_operators(statement: str) -> bool:
    """Whether a statement is one of those that the pages of operators may send."""
    return any(re.fullmatch(form, _plain(statement)) for form in OF_OPERATORS)


def _plain(statement: str) -> str:
    """Without literals, quotes and casts, and with ``:name`` for the parameters of all drivers."""
    text = re.sub(r"'[^']*'", "''", statement).replace('"', "")
    text = re.sub(r"%\((\w+)\)s", r":\1", text).replace("?", ":p")
    text = re.sub(r"::[A-Z]+(?: WITH TIME ZONE)?(?:\[\])?", "", text)
    return " ".join(text.split())


def _is_open(text: str, groups: Groups, *, held: bool) -> bool:
    """Whether one of the queries in a text without parentheses reaches rows of any account.

    Args:
        held: whether the query around it takes only rows with the account's ``account_id``.
    """
    return any(_query_is_open(query, groups, held) for query in _SETS.split(" ".join(text.split())))


def _query_is_open(query: str, groups: Groups, held: bool) -> bool:
    for table, place in _INSERT.findall(query):
        if table in TENANT_TABLES and "account_id" not in groups[int(place)]:
            return True
    where = _WHERE.search(query)
    condition = where[1] if where else ""
    columns = query.partition(" FROM ")[0].strip()
    around: dict[str, bool] = {}
    for source, name in _sources(query, groups):
        handed_out = re.search(rf"\b{name}\.account_id(?: AS account_id)?(?=,|$)", columns)
        if not ((held and handed_out) or _holds(condition, columns, source, name, groups)):
            return True
        if source.startswith("§"):
            around[source[1:]] = _must(condition, _equality(name), groups)
    return any(
        _is_open(groups[int(place)], groups, held=around.get(place, False))
        for place in _PLACE.findall(query)
    )


def _sources(query: str, groups: Groups) -> Iterator[tuple[str, str]]:
    """The tables and subqueries that a query reads or changes, each with the name it has there."""
    for read in _READ.findall(query):
        for item in re.split(r",|\bJOIN\b|\bFROM\b", read):
            found = _SOURCE.match(item.strip())
            if found is None:
                continue
            source, name = found[1], found[2] or found[1]
            inner = groups[int(source[1:])] if source.startswith("§") else "SELECT"
            if inner.startswith("SELECT"):
                yield source, name
            else:  # tables that are joined before the others
                yield from _sources(f"FROM {inner}", groups)


def _holds(condition: str, columns: str, source: str, name: str, groups: Groups) -> bool:
    """Whether a condition holds what is read from a source to one account."""
    if source in TENANT_TABLES:
        only_numbers = columns == f"SELECT {name}.row AS row"
        forms: tuple[str, ...] = (_equality(name), *(_marks(name) if only_numbers else ()))
        if source in PERSONAL_TABLES:
            forms += (rf"{name}\.user_id = :\w+",)
        if source in OF_WEBHOOKS:
            forms += (_of_own_webhook(name),)
        return any(_must(condition, form, groups) for form in forms)
    table, _, kind = source.rpartition("_")
    if table in TENANT_TABLES and kind == "text":  # FTS5; the mark is a word of what is looked for
        return _must(condition, rf"{source} MATCH :\w+", groups)
    if table in TENANT_TABLES and kind == "box":  # R*Tree
        mark = (rf"{name}\.mark_from <= :mark", rf"{name}\.mark_to >= :mark")
        return all(_must(condition, form, groups) for form in mark)
    return True


def _equality(name: str) -> str:
    return rf"(?:{name}\.)?account_id = :\w+"


def _of_own_webhook(name: str) -> str:
    return (
        rf"{name}\.webhook_id = \( ?SELECT webhooks\.id AS id FROM webhooks"
        r" WHERE webhooks\.account_id = :\w+ AND webhooks\.id = :\w+ ?\)"
    )


def _marks(name: str) -> tuple[str, str]:
    """The conditions on PostgreSQL's indexes of texts and of boxes."""
    own = rf"\( ?{name}\.account_id,"
    return (
        rf"canopy_grams {own}.*@> array \(.*:account_id\b.*",
        rf"canopy_box {own}.*&& canopy_box \( ?:account_id,.*",
    )


def _must(condition: str, form: str, groups: Groups) -> bool:
    """Whether a condition can only hold where an expression of this form does."""
    if len(sides := re.split(r"\bOR\b", condition)) > 1:
        return all(_must(side, form, groups) for side in sides)
    if len(parts := re.split(r"\bAND\b", condition)) > 1:
        return any(_must(part, form, groups) for part in parts)
    alone = _PLACE.fullmatch(condition.strip())
    if alone is not None:
        inner = groups[int(alone[1])]
        return not inner.startswith("SELECT") and _must(inner, form, groups)
    return re.fullmatch(form, _whole(condition, groups)) is not None


def _whole(text: str, groups: Groups) -> str:
    """A text with what stood in its parentheses."""
    while _PLACE.search(text):
        text = _PLACE.sub(lambda place: f"({groups[int(place[1])]})", text)
    return " ".join(text.split())
