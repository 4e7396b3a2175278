"""Forms that end in a redirect to an application, which may lead on, without scripts.

Browsers apply the policy of the page with the form to all of these redirects.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from tests.browser.conftest import Instance, Visitor, sign_up
from tests.browser.oauth.chains import Chain, addresses_of, allow
from tests.browser.oauth.running import loopback
from tests.browser.oauth.woods import Application, Woods
from tests.browser.second_factor import App, forget_confirmations, turn_on
from tests.make import new_email
from tests.make.browser import PASSWORD
from tests.waiting import PATIENCE


def test_consent_and_signing_in_lead_on(
    visitor: Visitor,
    instance: Instance,
    woods: Woods,
    application: Application,
    chains: dict[str, Chain],
    subtests: pytest.Subtests,
) -> None:
    """Signing in: if consent is remembered, at once and after a mistyped password."""
    asking = addresses_of(instance, application, chains, prompt="consent")
    woods.ask(visitor, asking["three hops"])
    for name, chain in chains.items():
        for button in ("Deny", "Allow"):
            with subtests.test(f"{button}, {name}"):
                visitor.go(asking[name])
                with chain.is_followed(visitor):
                    visitor.press(button)
    for mistakes, (name, address) in enumerate(addresses_of(instance, application, chains).items()):
        with subtests.test(f"signing in, {name}"):
            visitor.context.clear_cookies()
            visitor.move()
            visitor.go(address)
            if mistakes % 2:
                visitor.fill(email=woods.owner, password="not that one")
                visitor.press("Sign in")
                visitor.page.locator("[aria-invalid]").first.wait_for()
            with chains[name].is_followed(visitor):
                woods.enter(visitor)


@pytest.mark.slow
def test_a_second_factor_leads_on(
    visitor: Visitor,
    instance: Instance,
    application: Application,
    chains: dict[str, Chain],
    subtests: pytest.Subtests,
) -> None:
    """As the second step of signing in, and where it is asked for again after a while."""
    email, addresses = new_email(), addresses_of(instance, application, chains)
    sign_up(visitor, email)
    app = turn_on(visitor)
    allow(visitor, addresses, chains)
    for name, chain in chains.items():
        with subtests.test(f"second step, {name}"):
            visitor.context.clear_cookies()
            visitor.move()
            visitor.go(addresses[name])
            visitor.fill(email=email, password=PASSWORD)
            visitor.press("Sign in")
            with chain.is_followed(visitor):
                give_recovery_code(visitor, app)
    asking = addresses_of(instance, application, chains, prompt="consent")
    for mistakes, (name, chain) in enumerate(chains.items()):
        with subtests.test(f"asked again, {name}"):
            forget_confirmations(instance)
            visitor.go(asking[name])
            visitor.press("Allow")
            assert visitor.heading == "Confirm that it is you"
            if mistakes % 2:
                visitor.page.get_by_role("link", name="Cancel").click()
                assert visitor.heading == f"{application.name} asks for access"
                visitor.press("Allow")
                visitor.fill(second_factor_code=app.wrong())
                visitor.press("Continue")
            with chain.is_followed(visitor):
                give_recovery_code(visitor, app)


# Does what each directive forbids, and returns those that the browser names.
FORBIDDEN = """
async ({ elsewhere, wanted, patience }) => {
  const seen = new Set();
  const all = new Promise((resolve) => {
    document.addEventListener("securitypolicyviolation", ({ effectiveDirective }) => {
      seen.add(effectiveDirective);
      if (wanted.every((name) => seen.has(name))) resolve();
    });
  });
  const add = (tag, values, parent = document.body) =>
    parent.appendChild(Object.assign(document.createElement(tag), values));
  add("script", { textContent: "document.title = 'Run'" });
  add("script", { src: elsewhere });
  add("style", { textContent: "p { color: red }" });
  add("link", { rel: "stylesheet", href: elsewhere });
  add("img", { src: elsewhere });
  add("iframe", { src: elsewhere });
  add("object", { data: elsewhere });
  add("base", { href: elsewhere }, document.head);
  fetch(elsewhere).catch(() => {});
  if (wanted.includes("form-action")) add("form", { action: elsewhere, method: "post" }).submit();
  await Promise.race([all, new Promise((resolve) => setTimeout(resolve, patience))]);
  return [...seen, document.title === "Run"];
}
"""
DIRECTIVES = [
    *("base-uri", "connect-src", "frame-src", "img-src", "object-src", "script-src-elem"),
    "style-src-elem",
]


@pytest.mark.slow
def test_the_policy_forbids_all_else(chrome: Browser, instance: Instance) -> None:
    """Scripts, styles, images, frames, calls and bases of others on every page; forms that end
    elsewhere on all pages but those that lead to an application; and to be framed."""
    visitor = Visitor(chrome, instance)
    visitor.expected += ["Content Security Policy", "X-Frame-Options", "/back was asked"]
    with loopback() as other:
        for path, wanted in (
            ("/login", [*DIRECTIVES, "form-action"]),
            ("/login?next=/oauth/authorize", DIRECTIVES),
        ):
            values = {"elsewhere": other.uri, "wanted": wanted, "patience": 1000 * PATIENCE}
            *seen, has_run = visitor.go(path).evaluate(FORBIDDEN, values)
            assert (sorted(seen), has_run) == (sorted(wanted), False), path
        assert other.came.empty()
    with loopback({"/": f'<iframe src="{instance.url}/login"></iframe>'}) as framing:
        page = visitor.go(framing.origin)
        assert [frame.url for frame in page.frames[1:]] == ["chrome-error://chromewebdata/"]
    visitor.leave()


def give_recovery_code(visitor: Visitor, app: App) -> None:
    """Give one that was not used, as the codes of an app change too slowly."""
    visitor.page.get_by_text("Use a recovery code").click()
    field = visitor.page.locator("[name=second_factor_recovery_code]")
    field.fill(app.codes.pop())
    field.press("Enter")
