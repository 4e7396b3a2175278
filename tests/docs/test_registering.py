"""What ``docs/oauth.md`` says about registering applications is the policy's."""

from __future__ import annotations

from app.policy.deliveries import OVERLAP_HOURS_DEFAULT, OVERLAP_HOURS_MAX
from app.policy.oauth import APPLICATIONS_PER_ACCOUNT
from tests.docs.test_oauth import section


def test_numbers_are_the_policys() -> None:
    said = " ".join(section("Registering").split())
    assert f"An account can have {APPLICATIONS_PER_ACCOUNT} applications." in said
    assert f"the former secret for {OVERLAP_HOURS_DEFAULT} hours" in said
    assert f"`--overlap`, 0 to {OVERLAP_HOURS_MAX} hours" in said
