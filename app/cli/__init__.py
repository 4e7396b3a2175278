"""The command line for operators, ``bin/canopy``.

Every command reads the same settings as the service and works while it runs. Exit codes: 0 done,
1 failed, 2 wrong usage or a wrong setting.

The package has over 2,000 lines because it has a module for each group of commands. They share only
``group`` (errors and the database) and ``output`` (what is printed), and no group uses another.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NoReturn

import click
from flask.cli import ScriptInfo

from app import create_app
from app.cli import (
    accounts,
    demo,
    importing,
    keys,
    mail,
    maintenance,
    migrate,
    oauth_apps,
    secret_key,
    webhooks,
)
from app.cli.group import CanopyGroup

# The modules with commands, each in its list ``commands``, in the order of --help.
COMMAND_MODULES: Final = (
    accounts, keys, oauth_apps, webhooks, importing, demo, migrate, mail, maintenance, secret_key,
)  # fmt: skip


@click.group(cls=CanopyGroup, context_settings={"help_option_names": ["-h", "--help"]})
def canopy() -> None:
    """Run and look after this instance of Canopy.

    The settings (DATABASE_URL, INSTANCE_PATH and the others) are read from the environment, as the
    service reads them. Every command has --help, and those that print something take --json.

    \b
    Examples:
      bin/canopy account create --name "Green Woods" --owner-email jo@example.org
      bin/canopy key create --account green-woods --name laptop --permission admin
      bin/canopy import districts.geojson --account green-woods
    """


for _module in COMMAND_MODULES:
    for _command in _module.commands:
        canopy.add_command(_command)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command and exit with its code."""
    canopy.main(
        args=arguments,
        prog_name="bin/canopy",
        obj=ScriptInfo(create_app=create_app, set_debug_flag=False, load_dotenv_defaults=False),
    )
