"""What operators change, and who they are. The log of the instance records each change."""

from __future__ import annotations

from app.operator.accounts import change_plan as change_plan  # all re-exported
from app.operator.changes import close_sign_up as close_sign_up
from app.operator.changes import open_sign_up as open_sign_up
from app.operator.changes import remove_message as remove_message
from app.operator.changes import show_message as show_message
from app.operator.operators import add_operator as add_operator
from app.operator.operators import list_operators as list_operators
from app.operator.operators import remove_operator as remove_operator
