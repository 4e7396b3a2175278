"""Applications that lead on: redirects of their own, after the one to their redirect URI."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

from tests.browser.conftest import Instance, Visitor
from tests.browser.oauth.running import loopback
from tests.browser.oauth.woods import Application, authorization_address

PRIVATE = "com.example.app:/done"


class Chain(NamedTuple):
    """Redirects from a redirect URI to where they end."""

    uri: str
    end: str

    @contextmanager
    def is_followed(self, visitor: Visitor) -> Iterator[None]:
        """What is done meanwhile leads a visitor to the end."""
        if self.end != PRIVATE:
            yield
            visitor.page.wait_for_url(f"{self.end}**")
            return
        with visitor.page.expect_request(lambda sent: sent.url.startswith(PRIVATE)):
            yield


@contextmanager
def redirect_chains() -> Iterator[dict[str, Chain]]:
    """Chains of hops, each to another origin, by what they are."""
    with ExitStack() as stack:

        def before(onward: str = "") -> str:
            return stack.enter_context(loopback(onward=onward)).uri

        end = before()
        yield {
            "three hops": Chain(before(before(end)), end),
            "one hop to a program": Chain(PRIVATE, PRIVATE),
            "two hops to a program": Chain(before(PRIVATE), PRIVATE),
        }


def addresses_of(
    instance: Instance, application: Application, chains: dict[str, Chain], **fields: str
) -> dict[str, str]:
    """The URLs of authorization requests that lead into each chain."""
    fields |= {"scope": "projects:read"}
    return {
        name: authorization_address(instance, application, chain.uri, **fields)
        for name, chain in chains.items()
    }


def allow(visitor: Visitor, addresses: dict[str, str], chains: dict[str, Chain]) -> None:
    """Have the signed-in person's consent remembered, for each redirect URI that is registered."""
    for name in ("three hops", "one hop to a program"):
        visitor.go(addresses[name])
        with chains[name].is_followed(visitor):
            visitor.press("Allow")
