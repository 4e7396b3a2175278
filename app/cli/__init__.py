"""The command line for operators, ``bin/canopy``.

All commands read the same settings as the service and work while it runs. Exit codes: 0 done, 1
failed, 2 wrong usage or a wrong setting.

Each group of commands has a module. They share ``group`` (help, and importing on demand),
``context`` (the application and the database), ``failures`` (errors), ``output`` (printing) and
``plans`` (plans in words).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Final, NoReturn

import click

from app.cli.group import AllCommands, Entry
from app.settings.environment_file import DEFAULT_FILE, SETTINGS_FILE
from app.values.command_name import COMMAND, canopy_command
from app.values.version import VERSION, describe_version, read_commit

if __name__ in sys.orig_argv:
    os.environ.setdefault(COMMAND, f"{sys.orig_argv[0]} -m {__name__}")

# All commands, in the order of --help.
ENTRIES: Final = (
    Entry("account", "accounts", "Create, list, change, export, import and delete accounts."),
    Entry("plan", "plans", "List the plans that accounts can be on."),
    Entry("user", "users", "List, show, sign out and delete people, and reset what is lost."),
    Entry("operator", "operators", "Say who sees the page of operators."),
    Entry("member", "members", "List, invite, change and remove the members of an account."),
    Entry("key", "keys", "Create, list and revoke API keys."),
    Entry("service-token", "keys", "Create, list and revoke service tokens."),
    Entry("oauth-app", "oauth_apps", "Register applications that act for people (OAuth 2.0)."),
    Entry("webhook", "webhooks", "List and test webhooks, or receive events on this machine."),
    Entry("import", "importing", "Import projects from a file."),
    Entry("undo-import", "undoing", "Undo an import."),
    Entry("export", "exporting", "Export projects or assets to a file."),
    Entry("audit", "audit", "Verify and export the audit log of an account."),
    Entry("demo", "demo", "Create an account with example data."),
    Entry("migrate", "migrate", "Bring the tables of the database up to date."),
    Entry("mail", "mail", "Find out whether emails arrive."),
    Entry("outbound", "outbound", "Say or change whether webhooks and emails are sent."),
    Entry("backup", "maintenance", "Write all accounts, with everything in them, to a zip file."),
    Entry("restore", "maintenance", "Replace everything in the database with a backup."),
    Entry(
        "copy-database",
        "maintenance",
        "Copy everything into another database and compare the two.",
    ),
    Entry("basemap", "basemap", "Make a map of your own region, with roads and villages."),
    Entry("doctor", "doctor", "Find out what is wrong with this instance and how to fix it."),
    Entry(
        "secret-key",
        "secret_key",
        "Change SECRET_KEY in two steps, with a restart between them.",
    ),
)


def _keep_settings(ctx: click.Context, _: click.Parameter, path: str | None) -> None:
    ctx.meta[SETTINGS_FILE] = path


def _show_version(ctx: click.Context, _: click.Parameter, is_wanted: bool) -> None:
    if is_wanted and not ctx.resilient_parsing:
        click.echo(f"Canopy {describe_version(VERSION, read_commit())}")
        ctx.exit()


def _commands_help() -> str:
    name = canopy_command()
    return f"""Manage this instance of Canopy.

    The settings (DATABASE_URL, INSTANCE_PATH and the others) are read from the environment, as the
    service reads them. If it has neither of these two, they are read from {DEFAULT_FILE},
    where that exists, unless this checkout has an instance of its own. Every command has
    --help, and those that print something take --json.

    \b
    Examples:
      {name} account create --name "Green Woods" --owner-email jo@example.org
      {name} key create --account green-woods --name laptop --permission admin
      {name} import districts.geojson --account green-woods
      {name} export --account green-woods --output forests.gpkg
    """


@click.group(
    cls=AllCommands,
    help=_commands_help(),
    entries=ENTRIES,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_show_version,
    help="Show the version and its commit, and exit.",
)
@click.option(
    "--settings",
    expose_value=False,
    is_eager=True,
    callback=_keep_settings,
    metavar="FILE",
    envvar="CANOPY_SETTINGS",
    help="Read the settings from FILE, which has the form of systemd's EnvironmentFile.",
)
def canopy() -> None:
    """Do what all commands need before they run: nothing."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command and exit with its code."""
    canopy.main(args=arguments, prog_name=canopy_command())
