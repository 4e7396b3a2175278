"""What the command line uses of this package."""

from __future__ import annotations

from app.deletion.contents import count_contents as count_contents  # all re-exported
from app.deletion.contents import delete_account as delete_account
from app.deletion.people import delete_person as delete_person
from app.deletion.schedule import cancel_by_operator as cancel_by_operator
from app.deletion.schedule import scheduled_deletion as scheduled_deletion
from app.deletion.words import counted as counted
