"""The blueprints of all pages."""

from __future__ import annotations

from typing import Final

from flask import Blueprint

from app.pages.applications.views import bp as applications
from app.pages.assets.asset.views import bp as asset_page
from app.pages.assets.views import bp as assets
from app.pages.audit_log.views import bp as audit_log
from app.pages.credentials.views import api_keys, service_tokens
from app.pages.deletion.views import bp as deletion_of_account
from app.pages.deletion.views import person_bp as deletion_of_person
from app.pages.eudr.views import bp as eudr
from app.pages.imports.views import bp as imports
from app.pages.invitations.views import bp as invitations
from app.pages.map.basemap import bp as own_basemap
from app.pages.map.views import bp as map_places
from app.pages.members.views import bp as members
from app.pages.oauth.views import bp as oauth
from app.pages.operator.views import bp as operator
from app.pages.profile.views import bp as profile
from app.pages.projects.editor.views import bp as project_editor
from app.pages.projects.project.views import bp as project_page
from app.pages.projects.views import bp as projects
from app.pages.second_factor.views import bp as second_factor
from app.pages.settings.views import bp as settings
from app.pages.sign_in.views import bp as sign_in
from app.pages.single_sign_on.views import bp as single_sign_on
from app.pages.usage.views import bp as usage
from app.pages.webhooks.replays.views import bp as webhook_replays
from app.pages.webhooks.views import bp as webhooks
from app.pages.webhooks.webhook.views import bp as webhook_page
from app.pages.welcome.views import bp as welcome

PAGES: Final[tuple[Blueprint, ...]] = (
    api_keys, applications, asset_page, assets, audit_log, deletion_of_account,
    deletion_of_person, eudr, imports, invitations, map_places, members, oauth, operator,
    own_basemap, profile, project_editor, project_page, projects, second_factor, service_tokens,
    settings, sign_in, single_sign_on, usage, webhook_page, webhook_replays, webhooks, welcome,
)  # fmt: skip
