"""Statements on the tables that belong to accounts, and where they may stand.

They begin in ``app.auth.tenant``. The checker follows names: a model, a table taken from it, a list
of its columns, in this module or imported from another one, all mean the model.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from app import models
from tests.architecture.sources import Sources, dotted, parse

# What begins a statement.
OPENERS = {"select", "update", "delete", "insert", "insert_into", "exists", "fenced_rows"}
SESSION_READS = {"get", "get_one", "query"}
FREE_MODULES = ("app.auth.tenant", "app.models")

TENANT_MODELS = frozenset(
    name for name in models.__all__ if "account_id" in getattr(models, name).__table__.columns
)
# Models of which people may ask for their own rows, in all of their accounts.
PERSONAL_MODELS = frozenset({"Membership", "OAuthAuthorization", "OAuthConsent"})


class Place(NamedTuple):
    """A model in a function of a module, or, outside functions, in the name that is assigned."""

    module: str
    where: str
    model: str


# Statements that do not begin with the tenant filter, by the reason why that is right.
_REASONS = {
    "over all accounts": (
        Place("app.monitoring.readings", "_IMPORTS", "Import"),
        Place("app.pages.operator.overview", "_TOTALS", "AccountUsage"),
        Place("app.pages.operator.accounts", "ACCOUNTS", "AccountUsage"),
        Place("app.account.members.revocation", "_revoke_consents", "OAuthConsent"),
        Place("app.maintenance.sealed_values", "require_usable_key", "Webhook"),
        Place("app.maintenance.jobs", "_EVENT_SIZES", "Event"),
        Place("app.maintenance.jobs", "_DELIVERY_NUMBERS", "Delivery"),
        Place("app.webhooks.deliveries.health", "forget_warnings", "Webhook"),
        Place("app.webhooks.held", "_drop_waiting", "Delivery"),
        Place("app.webhooks.held", "_drop_waiting", "Replay"),
    ),
    "of the account that is named": (Place("app.pages.operator.accounts", "_ONE", "AccountUsage"),),
    "how many are invited to each": (
        Place("app.pages.operator.accounts", "_INVITED", "Membership"),
    ),
    "of people in all of their accounts": (
        Place("app.pages.operator.people", "_ACCOUNTS", "Membership"),
    ),
    "finds out which account is asking": (
        Place("app.auth.credentials", "_BY_HASH", "Credential"),
        Place("app.auth.access_tokens", "_BY_HASH", "OAuthAuthorization"),
        Place("app.auth.access_tokens", "_BY_HASH", "Membership"),
    ),
    "the role of who is signed in": (Place("app.auth.sessions", "_BY_HASH", "Membership"),),
    "the principal's own row": (Place("app.account.service", "rename_account", "AccountUsage"),),
    "an UPDATE that names account_id": (
        Place("app.usage.counters", "_CHANGE", "AccountUsage"),
        Place("app.maintenance.history_bytes", "_ADD", "AccountUsage"),
    ),
    "names account_id": (
        Place("app.usage.counters", "lock_counters", "AccountUsage"),
        Place("app.usage.thresholds", "_REQUESTS", "AccountUsage"),
        Place("app.projects.boundary_history.entries", "_CLOSE", "BoundaryEntry"),
        Place("app.projects.boundary_history.entries", "_REOPEN", "BoundaryEntry"),
        Place("app.projects.boundary_history.entries", "_MEASURE", "BoundaryEntry"),
        Place("app.projects.boundary_history.shapes", "_DROP", "BoundaryShape"),
        Place("app.projects.boundary_history.shape_backlog", "_MARK", "BoundaryEntry"),
        Place("app.usage.thresholds", "_MONTH", "RequestCount"),
        Place("app.usage.thresholds", "update_requests_level", "AccountUsage"),
        Place("app.usage.thresholds", "_set_levels", "AccountUsage"),
        Place("app.audit.log.sealing", "_numbering_update", "AuditEntry"),
        Place("app.audit.log.sealing", "_delete", "AuditEntry"),
        Place("app.audit.log.retention", "_delete_oldest_entries", "AuditCheckpoint"),
        Place("app.audit.log.retention", "_delete_oldest_entries", "AuditEntry"),
        Place("app.events.outbox", "_SUBSCRIPTIONS", "Webhook"),
        Place("app.webhooks.deliveries.cancellation", "end_replays", "Replay"),
        Place("app.webhooks.deliveries.cancellation", "_CANCEL_CLAIMED", "Delivery"),
        Place("app.webhooks.deliveries.outcomes", "_ATTEMPTS", "Delivery"),
        Place("app.webhooks.deliveries.outcomes", "_SUCCEEDED", "Delivery"),
        Place("app.webhooks.deliveries.outcomes", "_FAILED", "Delivery"),
        Place("app.webhooks.deliveries.attempt_counts", "_counts_upsert", "AttemptCount"),
        Place("app.webhooks.deliveries.health", "_UPDATE", "Webhook"),
        Place("app.webhooks.deliveries.health", "_change_webhooks", "Webhook"),
        Place("app.imports.feature_rows", "_row_update", "ImportFeature"),
        Place("app.imports.feature_rows", "forget_imported", "ImportedRecord"),
        Place("app.imports.uploads", "_delete_pieces", "ImportFile"),
        Place("app.account.billing.service", "_store_event", "BillingEvent"),
        Place("app.account.billing.service", "_store_customer", "BillingCustomer"),
        Place("app.oauth.authorizations", "claim_code", "OAuthAuthorization"),
        Place("app.oauth.authorizations", "revoke_family", "OAuthAuthorization"),
        Place("app.oauth.authorizations", "_delete_unused", "OAuthAuthorization"),
        Place("app.oauth.consents", "revoke_consent", "OAuthConsent"),
        Place("app.account.members.own_invitations", "_ACCEPT_OWN", "Membership"),
    ),
    "goes out through columns_among": (
        Place("app.projects.boundaries.overlaps", "_by_box", "Project"),
        Place("app.projects.map.largest", "_by_box", "Project"),
        Place("app.projects.map.largest", "_in_order", "Project"),
        Place("app.projects.map.shapes", "by_row", "Project"),
        Place("app.imports.features.project_lookup", "_by_box", "Project"),
    ),
    "new rows": (Place("app.projects.boundary_history.shapes", "_shapes_insert", "BoundaryShape"),),
    "a job for all accounts": (
        Place("app.projects.boundary_history.shape_backlog", "_NEXT", "BoundaryEntry"),
        Place("app.projects.boundary_history.shape_backlog", "_NEXT_ACCOUNT", "BoundaryEntry"),
        Place("app.projects.boundary_history.shape_backlog", "_NEXT", "Project"),
        Place("app.projects.boundary_history.shape_backlog", "_LOCK", "Project"),
        Place("app.projects.country_backlog", "_SET", "Project"),
        Place("app.webhooks.deliveries.leases", "_LEASE_ON_SQLITE", "Delivery"),
        Place("app.webhooks.deliveries.leases", "_RELEASE", "Delivery"),
        Place("app.webhooks.deliveries.cancellation", "_PENDING_SINCE_BEFORE", "Delivery"),
        Place("app.webhooks.deliveries.cancellation", "_CANCEL_BATCH", "Delivery"),
        Place("app.webhooks.deliveries.cancellation", "_CLEAR_CANCELED_AT", "Webhook"),
        Place("app.webhooks.replays.jobs", "queue_next", "Replay"),
        Place("app.webhooks.replays.jobs", "queue_next", "Webhook"),
        Place("app.imports.leases", "lease_next", "Import"),
        Place("app.imports.leases", "_waiting_imports", "Import"),
        Place("app.imports.deletion", "_ended_ids", "Import"),
        Place("app.imports.deletion", "_delete_some", "Import"),
    ),
    "joins two that begin with it": (Place("app.audit.log.listing", "_page_of_all", "AuditEntry"),),
    "a new row, of the account it is given": (
        Place("app.imports.feature_rows", "note_imported", "ImportedRecord"),
        Place("app.oauth.consents", "save_consent", "OAuthConsent"),
    ),
    "the import that this worker has leased": (
        Place("app.imports.leases", "lock_leased", "Import"),
    ),
    "finds out which account is meant": (
        Place("app.account.billing.service", "_account_of_customer", "BillingCustomer"),
    ),
    "finds out which application is asking": (
        Place("app.oauth.clients", "_BY_ID", "OAuthApplication"),
    ),
    "finds out what a code is for": (
        Place("app.oauth.authorizations", "_BY_CODE", "OAuthAuthorization"),
    ),
    "finds out what a token is for": (
        Place("app.oauth.issuing", "_BY_HASH", "OAuthAuthorization"),
    ),
    "all consents to an application that may ask for less from now on, or is deleted": (
        Place("app.oauth.consents", "_consents_to", "OAuthConsent"),
    ),
    "finds out which account invites": (
        Place("app.account.members.invitations", "_BY_TOKEN", "Membership"),
        Place("app.account.members.invitations", "_ACCEPT", "Membership"),
    ),
    "changes that name account_id": (Place("app.api.idempotency", "claim", "IdempotentResponse"),),
    "the row that was just claimed; account_id is half of its key": (
        Place("app.api.idempotency", "store", "IdempotentResponse"),
    ),
}
EXCEPTIONS = {place: why for why, places in _REASONS.items() for place in places}


def statements(known: Sources) -> Iterator[tuple[Place, int]]:
    """Every statement on a tenant's table outside the tenant filter, with its line."""
    meanings = _meanings(known)
    for module, source in known.items():
        if module.startswith(FREE_MODULES):
            continue
        tree = parse(source)
        for where, scope in _scopes(tree):
            local = meanings[module] | _assigned(scope, meanings[module])
            for call in _openers(scope):
                for model in sorted(set(_meant(call, local))):
                    yield Place(module, where, model), call.lineno


def around_the_filter(known: Sources) -> Iterator[str]:
    """The statements that no exception is about."""
    for place, line in statements(known):
        if place not in EXCEPTIONS:
            yield f"{place.module}:{line} ({place.where}) has a statement on {place.model}"
    yield from _not_personal(known)


def _not_personal(known: Sources) -> Iterator[str]:
    """People who ask for their own rows of a model whose rows are the account's."""
    for module, source in known.items():
        for node in ast.walk(parse(source)):
            if isinstance(node, ast.Call) and dotted(node.func).endswith("own_columns_of"):
                model = dotted(node.args[0]) if node.args else ""
                if model not in PERSONAL_MODELS:
                    yield f"{module}:{node.lineno} has no person's own rows in {model}"


Meanings = dict[str, set[str]]  # a name -> the models that it means


def _meanings(known: Sources) -> dict[str, Meanings]:
    """What the names at the top of each module mean."""
    found: dict[str, Meanings] = {module: {} for module in known}
    trees = {module: parse(source) for module, source in known.items()}
    for _ in range(4):  # as many steps as a name travels from module to module
        for module, tree in trees.items():
            found[module] |= _imported(tree, found)
            found[module] |= _assigned(tree, found[module])
    return found


def _imported(tree: ast.Module, found: dict[str, Meanings]) -> Meanings:
    names: Meanings = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                own = alias.asname or alias.name
                if (node.module or "").startswith("app.models") and alias.name in TENANT_MODELS:
                    names[own] = {alias.name}
                elif alias.name in found.get(node.module or "", {}):
                    names[own] = found[node.module or ""][alias.name]
    return names


def _assigned(scope: ast.AST, known: Meanings) -> Meanings:
    """Names that stand for a table, columns or an alias; not for what a statement gave."""
    names: Meanings = {}
    for node in getattr(scope, "body", []):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            meant = set() if _gives_rows(node.value) else set(_meant(node.value, known | names))
            names |= {t.id: meant for t in targets if isinstance(t, ast.Name) and meant}
    return names


def _gives_rows(value: ast.expr) -> bool:
    """Whether a value is a call other than those that keep the meaning of their argument, or
    nothing instead."""
    keeps = ("cast", "aliased", "tuple", "list", "map", "sorted")
    if isinstance(value, ast.IfExp):
        return _gives_rows(value.body) and isinstance(value.orelse, ast.Constant)
    return isinstance(value, ast.Call) and dotted(value.func) not in keeps


def _scopes(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """Each function by its name, and each assignment outside functions by its target."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node
    for statement in tree.body:
        if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            target = getattr(statement, "targets", [getattr(statement, "target", None)])[0]
            yield dotted(target) if target is not None else "(module)", statement


def _openers(scope: ast.AST) -> Iterator[ast.Call]:
    for node in ast.walk(scope):
        if isinstance(node, ast.Call):
            owner, _, name = dotted(node.func).rpartition(".")
            reads = name in SESSION_READS and owner.endswith("session")
            if name in OPENERS or reads or name == "query_property":
                yield node
        elif isinstance(node, ast.Attribute) and node.attr == "query":
            yield ast.copy_location(ast.Call(func=node, args=[node.value], keywords=[]), node)


def _meant(node: ast.AST, meanings: Meanings) -> Iterator[str]:
    """The tenant's models that an expression names, in what a statement is begun with."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name):
            yield from meanings.get(inner.id, ())
