"""What operators do, and who they are; each change has an entry in the log of the instance."""

from __future__ import annotations

from app.operator.accounts import change_plan as change_plan  # all re-exported
from app.operator.changes import close_sign_up as close_sign_up
from app.operator.changes import open_sign_up as open_sign_up
from app.operator.changes import remove_message as remove_message
from app.operator.changes import show_message as show_message
from app.operator.naming import add_operator as add_operator
from app.operator.naming import list_operators as list_operators
from app.operator.naming import remove_operator as remove_operator
