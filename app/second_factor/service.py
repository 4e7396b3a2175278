"""The second factor, for the pages of other packages."""

from app.second_factor.requirement import Requirement as Requirement
from app.second_factor.requirement import (
    members_with_second_factor as members_with_second_factor,
)
from app.second_factor.requirement import require_second_factor as require_second_factor
from app.second_factor.requirement import requirement_of as requirement_of
from app.second_factor.reset import reset_by_operator as reset_by_operator
from app.second_factor.reset import reset_member as reset_member
from app.second_factor.reset import reset_problem as reset_problem
from app.second_factor.step_up import ask_again as ask_again
from app.second_factor.step_up import asks_for_factor as asks_for_factor
