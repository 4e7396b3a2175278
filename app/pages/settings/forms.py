"""The forms of an account's settings."""

from __future__ import annotations

from wtforms import IntegerField, StringField
from wtforms.validators import InputRequired, NumberRange

from app.policy.second_factor import GRACE_DAYS
from app.site.fields import name_field
from app.site.forms import PageForm

_LEAST, _MOST = GRACE_DAYS
_RANGE = f"Must be a whole number from {_LEAST} to {_MOST}."


class AccountNameForm(PageForm):
    name = name_field("Name", autocomplete="organization", hint="Members and applications see it.")


class RequirementForm(PageForm):
    required = StringField()  # the button: yes or no
    grace_days = IntegerField(
        "Days until it is enforced",
        [InputRequired(_RANGE), NumberRange(_LEAST, _MOST, _RANGE)],
        description=f"{_LEAST} to {_MOST}, counted from when it is first required and, for new "
        "members, from joining.",
        render_kw={"type": "number", "min": _LEAST, "max": _MOST, "inputmode": "numeric"},
    )
