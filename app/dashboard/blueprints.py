"""The blueprints of all parts."""

from __future__ import annotations

from typing import Final

from flask import Blueprint

from app.dashboard.application_page.views import bp as application_page
from app.dashboard.applications.views import bp as applications
from app.dashboard.asset_page.views import bp as asset_page
from app.dashboard.assets.views import bp as assets
from app.dashboard.audit_log.views import bp as audit_log
from app.dashboard.consent.views import bp as consent
from app.dashboard.credentials.views import api_keys, service_tokens
from app.dashboard.imports.views import bp as imports
from app.dashboard.members.views import bp as members
from app.dashboard.project_editor.views import bp as project_editor
from app.dashboard.project_page.views import bp as project_page
from app.dashboard.projects.views import bp as projects
from app.dashboard.settings.views import bp as settings
from app.dashboard.start.views import bp as start
from app.dashboard.usage.views import bp as usage
from app.dashboard.webhook_page.views import bp as webhook_page
from app.dashboard.webhook_replays.views import bp as webhook_replays
from app.dashboard.webhooks.views import bp as webhooks

DASHBOARD: Final[tuple[Blueprint, ...]] = (
    api_keys,
    application_page,
    applications,
    asset_page,
    assets,
    audit_log,
    consent,
    imports,
    members,
    project_editor,
    project_page,
    projects,
    service_tokens,
    settings,
    start,
    usage,
    webhook_page,
    webhook_replays,
    webhooks,
)
