"""Recovery codes: shown once, each works once, new ones end the former."""

from __future__ import annotations

import pytest
from flask import Flask
from sqlalchemy import select

from app.db.extensions import db
from app.models import RecoveryCode
from app.policy.second_factor import RECOVERY_CODES
from tests.make import Browser, mails_to, sign_up, signed_in, text_of, together
from tests.people.second_factor.support import OWN, begin, codes_of, give, person_with_app, turn_on

KIND = "recovery_code"
NEW = f"{OWN}/recovery-codes"


def test_a_code_signs_in_and_is_mailed(app: Flask, email: str) -> None:
    factor = person_with_app(app, email)
    assert len(set(factor.codes)) == len(factor.codes) == RECOVERY_CODES == 10
    page = give(begin(app, email), KIND, factor.codes[0])
    assert page.path == "/welcome"
    assert "9 are left" in page.text
    mail = mails_to(app, email)[-1]
    assert "recovery code was used" in str(mail["Subject"])
    assert "You have 9 left" in text_of(mail)


def test_a_code_at_the_same_moment_works_once(app: Flask, email: str) -> None:
    factor = person_with_app(app, email)
    browsers = [begin(app, email) for _ in range(3)]

    def use(browser: Browser) -> int:
        return give(browser, KIND, factor.codes[0], follow=False).status

    found = together(*[lambda each=each: use(each) for each in browsers])
    assert sorted(found) == [303, 422, 422]


def test_a_code_is_read_as_people_write_it(app: Flask, email: str) -> None:
    factor = person_with_app(app, email)
    written = factor.codes[0].upper().replace("-", " ").replace("0", "O").replace("1", "l")
    assert give(begin(app, email), KIND, written).path == "/welcome"


def test_a_code_of_somebody_else_is_wrong(app: Flask, email: str) -> None:
    person_with_app(app, email)
    other = f"other-{email}"
    codes = turn_on(sign_up(app, other)).codes
    assert give(begin(app, email), KIND, codes[0]).status == 422


@pytest.mark.both
def test_codes_are_stored_as_hashes(app: Flask, email: str) -> None:
    codes = person_with_app(app, email).codes
    with app.app_context():
        stored = "".join(db.session.scalars(select(RecoveryCode.code_hash)))
    assert not any(code in stored or code.replace("-", "") in stored for code in codes)


def test_new_codes_end_the_former_ones(app: Flask, email: str) -> None:
    browser = signed_in(app, email)
    factor = turn_on(browser)
    browser.get(OWN)
    codes = codes_of(browser.submit(NEW))
    assert not set(codes) & set(factor.codes)
    assert give(begin(app, email), KIND, factor.codes[0]).status == 422
    assert give(begin(app, email), KIND, codes[0]).path == "/welcome"
    assert "new recovery codes" in str(mails_to(app, email)[-2]["Subject"])


def test_sending_the_form_again_makes_no_other_codes(app: Flask, email: str) -> None:
    browser = signed_in(app, email)
    turn_on(browser)
    fields = browser.get(OWN).form(NEW).fields
    codes = codes_of(browser.send(NEW, **fields))
    again = browser.send(NEW, **fields)
    assert (again.status, again.response.headers["Location"]) == (303, OWN)
    assert give(begin(app, email), KIND, codes[0]).path == "/welcome"
