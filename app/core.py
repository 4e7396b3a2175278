"""The application without its routes: settings, database, keys, jobs, Valkey, mails.

The web server and the worker run the whole application (``app.factory``). Commands need only this
part, which is imported in half the time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flask import Flask

from app.account.credentials.jobs import JOBS as CREDENTIAL_JOBS
from app.account.deletion.jobs import JOBS as DELETION_JOBS
from app.account.members.invitations import RESOLVERS as INVITATION_MAILS
from app.audit import guard
from app.audit.log.jobs import JOBS as AUDIT_JOBS
from app.db import engines, migrations
from app.db.extensions import models_by_name
from app.doctor.jobs import JOBS as DOCTOR_JOBS
from app.imports.jobs import JOBS as IMPORT_JOBS
from app.jobs import registry, valkey
from app.limits import plan_file
from app.mail import resolvers
from app.mail.jobs import JOBS as MAIL_JOBS
from app.maintenance.jobs import JOBS as MAINTENANCE_JOBS
from app.oauth.jobs import JOBS as OAUTH_JOBS
from app.people.mailed_links import RESOLVERS as RESET_MAILS
from app.people.service import RESOLVERS as PASSWORD_MAILS
from app.people.sign_up import RESOLVERS as SIGN_UP_MAILS
from app.people.single_sign_on.mails import RESOLVERS as SIGN_IN_MAILS
from app.processes import embedded_valkey
from app.projects.boundary_history.jobs import JOBS as HISTORY_JOBS
from app.projects.jobs import JOBS as PROJECT_JOBS
from app.security import passwords, sealing
from app.site import instance_state
from app.usage.jobs import JOBS as USAGE_JOBS
from app.webhooks.deliveries.jobs import JOBS as DELIVERY_JOBS
from app.webhooks.replays.jobs import JOBS as REPLAY_JOBS
from config import Settings, load_settings

JOBS = (
    *AUDIT_JOBS, *CREDENTIAL_JOBS, *DELETION_JOBS, *DELIVERY_JOBS, *HISTORY_JOBS, *IMPORT_JOBS,
    *MAIL_JOBS, *MAINTENANCE_JOBS, *OAUTH_JOBS, *DOCTOR_JOBS, *PROJECT_JOBS, *USAGE_JOBS,
    *REPLAY_JOBS,
)  # fmt: skip
RESOLVERS = {
    **INVITATION_MAILS, **PASSWORD_MAILS, **RESET_MAILS, **SIGN_IN_MAILS, **SIGN_UP_MAILS,
}  # fmt: skip


class SynchronousFlask(Flask):
    """Flask without coroutines: checking each function of a request takes longer than most of them
    do."""

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        return func


def create_core(settings: Settings | None = None) -> Flask:
    """Create the application that commands run in.

    Raises:
        config.SettingsError: a setting of the environment is wrong.
    """
    settings = settings or load_settings()
    app = SynchronousFlask("app", instance_path=str(settings.instance_path), static_folder=None)
    app.config.update(
        SETTINGS=settings,
        SQLALCHEMY_DATABASE_URI=settings.database_url,
        SQLALCHEMY_ENGINE_OPTIONS=engines.engine_options(settings)
        # Checked before each change; with PostgreSQL, postgresql.prepare checks.
        | {"pool_pre_ping": settings.uses_sqlite},
    )
    plan_file.init_app(app, settings)
    sealing.init_app(app, settings.secret_key, settings.secret_key_former)
    passwords.init_app(app, settings)
    engines.init_app(app)
    guard.init_app(app)
    instance_state.init_app(app)
    migrations.init_app(app)
    app.shell_context_processor(models_by_name)
    registry.register_jobs(JOBS)
    valkey.init_app(app, settings, lambda: embedded_valkey.redis_url(settings))
    resolvers.init_app(app, RESOLVERS)
    return app
