"""Scanning for due deliveries, and budgeting how many to claim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import islice
from math import ceil
from typing import Final

from app.policy.deliveries import QUEUED, QUEUED_OF_OTHERS, QUEUED_PER_ACCOUNT
from app.webhooks.deliveries import cancellation, leases
from app.webhooks.deliveries.fair_scheduler import FairScheduler
from app.webhooks.deliveries.outcomes import retry_of
from app.webhooks.deliveries.types import ClaimedDelivery, Outcome, PendingWebhook
from app.webhooks.deliveries.webhook_queue import ReceiverHealth, WebhookQueue

_PROBED_AT_ONCE: Final = 32  # webhooks that are not known to respond
_AFTER_CLAIM: Final = timedelta(seconds=0.5)  # of a webhook, only the first due time was known
_RETRY_AFTER: Final = timedelta(seconds=0.1)  # when the budget was too small for what is due

Numbers = dict[str, int]  # of deliveries to claim, by the id of the webhook


class ClaimBudget:
    """The number of deliveries that one scan may claim, so that memory is bounded and no account
    fills it.

    Args:
        due: the webhooks to claim for. They share the budget, so that a few of them, which could
            take much and perhaps have one delivery each, do not use it up.
    """

    def __init__(self, scheduler: FairScheduler, due: Iterable[WebhookQueue]) -> None:
        self._share = scheduler.share
        healthy = others = 0
        self._by_account: Counter[str] = Counter()
        for queue in scheduler.active:
            self._by_account[queue.account_id] += queue.queued
            if queue.health is ReceiverHealth.HEALTHY:
                healthy += queue.queued
            else:
                others += queue.queued
        self._left = {True: QUEUED - healthy, False: QUEUED_OF_OTHERS - others}
        numbers = Counter(queue.health is ReceiverHealth.HEALTHY for queue in due)
        self._most = {kind: ceil(self._left[kind] / numbers[kind]) for kind in numbers}
        self.is_exceeded = False  # whether more was wanted than it allows

    def queued(self, queue: WebhookQueue) -> int:
        """The number of deliveries that are claimed for the account of a webhook."""
        return self._by_account[queue.account_id]

    def claim(self, queue: WebhookQueue) -> int:
        """The number of deliveries to claim for a webhook."""
        wanted = queue.claimable(self._share(queue))
        is_healthy = queue.health is ReceiverHealth.HEALTHY
        left = min(self._left[is_healthy], QUEUED_PER_ACCOUNT - self._by_account[queue.account_id])
        number = max(0, min(wanted, left, self._most[is_healthy]))
        self.is_exceeded |= number < wanted
        self._left[is_healthy] -= number
        self._by_account[queue.account_id] += number
        return number


class DueScan:
    """Scans all webhooks with pending deliveries, some at a time, round after round."""

    def __init__(self, run_id: str, scheduler: FairScheduler) -> None:
        self.next_due: datetime | None = None  # of what this round did not claim
        self.is_unfinished = False  # whether there is more to find, or to cancel
        self.is_over_budget = False  # whether more was due than may be claimed at once
        self._run_id = run_id
        self._scheduler = scheduler
        self._after = ""  # the webhook after which the next scan begins
        self._due_later: datetime | None = None  # as ``next_due``, of this round so far
        self._disabled: list[PendingWebhook] = []  # since their deliveries were made
        self._canceled: list[ClaimedDelivery] = []

    @property
    def has_canceled(self) -> bool:
        """True if ``cancel`` has anything to do."""
        return bool(self._disabled or self._canceled)

    def find(self, now: datetime) -> Numbers:
        """Find webhooks with deliveries due, beginning where the last scan ended."""
        if not self._after:  # a round begins, which finds all that was expected before
            self._due_later = None
        found, self._after = leases.find_pending_webhooks(self._after)
        self.is_unfinished = bool(self._after)
        self._disabled = [pending for pending in found if pending.canceled_at is not None]
        self._expect(*(pending.due_at for pending in found if pending.due_at > now))
        queues = [self._scheduler.refresh(pending, now) for pending in found]
        self._canceled = self._scheduler.remove_canceled()
        numbers = self._plan([queue for queue in queues if queue and queue.has_more], now)
        if not self._after:
            self.next_due = self._due_later
        return numbers

    def cancel(self) -> None:
        """Cancel deliveries of webhooks that were disabled since."""
        cancellation.cancel_claimed(self._run_id, self._canceled)
        for pending in self._disabled:
            self.is_unfinished |= cancellation.cancel_some(pending)

    def claim(self, numbers: Numbers, now: datetime) -> list[ClaimedDelivery]:
        """Claim deliveries, cancel those of disabled webhooks, and return the others."""
        claimed = leases.claim_deliveries(self._run_id, numbers, now)
        by_webhook = Counter(delivery.webhook_id for delivery in claimed)
        for webhook_id, number in numbers.items():
            self._scheduler.get(webhook_id).note_claim(number, by_webhook[webhook_id])
        canceled = [each for each in claimed if self._is_canceled(each)]
        cancellation.cancel_claimed(self._run_id, canceled)
        self.is_unfinished |= bool(canceled)
        self._expect(now + _AFTER_CLAIM)
        ids = {delivery.id for delivery in canceled}
        return [delivery for delivery in claimed if delivery.id not in ids]

    def expect_retries(self, outcomes: Iterable[Outcome]) -> None:
        """Note when failed attempts, which are recorded now, are due again."""
        self._expect(*(retry_of(each).due_at for each in outcomes if each.error is not None))

    def _expect(self, *moments: datetime | None) -> None:
        """Note due times that this round may not find any more."""
        self.next_due = min(filter(None, (self.next_due, *moments)), default=None)
        self._due_later = min(filter(None, (self._due_later, *moments)), default=None)

    def _plan(self, due: Sequence[WebhookQueue], now: datetime) -> Numbers:
        """The number of deliveries to claim for each webhook. Of the receivers not known to
        respond, those that were probed longest ago come first, so that each is probed however many
        there are."""
        probed = [each for each in due if not each.health.is_responding and not each.is_active]
        probed.sort(key=lambda queue: queue.claimed_at)
        responding = (queue for queue in due if queue.health.is_responding)
        numbers = self._within_budget((*responding, *islice(probed, _PROBED_AT_ONCE)))
        if self.is_over_budget:
            self._expect(now + _RETRY_AFTER)
        elif len(probed) > _PROBED_AT_ONCE:
            self._expect(now)
        return numbers

    def _within_budget(self, queues: Sequence[WebhookQueue]) -> Numbers:
        """Those of the accounts with the fewest claimed deliveries come first, or a few accounts
        with much to send could leave nothing to the others."""
        budget = ClaimBudget(self._scheduler, queues)
        in_order = sorted(queues, key=budget.queued)
        numbers = {queue.pending.webhook_id: budget.claim(queue) for queue in in_order}
        self.is_over_budget = budget.is_exceeded
        return {webhook_id: number for webhook_id, number in numbers.items() if number}

    def _is_canceled(self, delivery: ClaimedDelivery) -> bool:
        return self._scheduler.get(delivery.webhook_id).is_canceled(delivery)
