"""Scanning for due deliveries, and deciding how many to claim."""

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

PROBED_AT_ONCE: Final = 32  # webhooks that are not known to respond
_AFTER_CLAIM: Final = timedelta(seconds=0.5)  # until the next scan: other due times are unknown
_RETRY_AFTER: Final = timedelta(seconds=0.1)  # until the next scan, if the budget was too small

Numbers = dict[str, int]  # deliveries to claim, by the id of the webhook


class ClaimBudget:
    """The number of deliveries that one scan may claim, so that memory is limited and no account
    fills it.

    Args:
        due: the webhooks to claim for, which share the budget. So a few of them, which could take
            many deliveries and may have one each, do not use it up.
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
        # By whether receivers are healthy.
        self._left = {True: QUEUED - healthy, False: QUEUED_OF_OTHERS - others}
        numbers = Counter(queue.health is ReceiverHealth.HEALTHY for queue in due)
        self._per_webhook = {kind: ceil(self._left[kind] / numbers[kind]) for kind in numbers}
        self.is_exceeded = False  # more could be claimed than it allows

    def queued(self, queue: WebhookQueue) -> int:
        """Return the number of deliveries that are claimed for the account of a webhook."""
        return self._by_account[queue.account_id]

    def claim(self, queue: WebhookQueue) -> int:
        """Return the number of deliveries to claim for a webhook."""
        claimable = queue.claimable(self._share(queue))
        is_healthy = queue.health is ReceiverHealth.HEALTHY
        left = min(self._left[is_healthy], QUEUED_PER_ACCOUNT - self._by_account[queue.account_id])
        number = max(0, min(claimable, left, self._per_webhook[is_healthy]))
        self.is_exceeded |= number < claimable
        self._left[is_healthy] -= number
        self._by_account[queue.account_id] += number
        return number


class DueScan:
    """Scans all webhooks with pending deliveries in batches, round after round."""

    def __init__(self, run_id: str, scheduler: FairScheduler) -> None:
        self.next_due: datetime | None = None  # first due time of unclaimed deliveries
        self.is_unfinished = False  # there is more to find or to cancel
        self.is_over_budget = False  # more was due than may be claimed at once
        self._run_id = run_id
        self._scheduler = scheduler
        self._after = ""  # id of the webhook after which the next scan begins
        self._due_later: datetime | None = None  # ``next_due`` of this round so far
        self._disabled: list[PendingWebhook] = []  # webhooks with deliveries to cancel
        self._canceled: list[ClaimedDelivery] = []

    @property
    def has_canceled(self) -> bool:
        """True if ``cancel`` has anything to do."""
        return bool(self._disabled or self._canceled)

    def find(self, now: datetime) -> Numbers:
        """Find webhooks with due deliveries, beginning where the last scan ended. Returns what to
        claim."""
        if not self._after:  # a round begins, which finds all due times
            self._due_later = None
        webhooks, self._after = leases.find_pending_webhooks(self._after)
        self.is_unfinished = bool(self._after)
        self._disabled = [webhook for webhook in webhooks if webhook.canceled_at is not None]
        self._expect(*(webhook.due_at for webhook in webhooks if webhook.due_at > now))
        queues = [self._scheduler.refresh(webhook, now) for webhook in webhooks]
        self._canceled = self._scheduler.remove_canceled()
        numbers = self._plan([queue for queue in queues if queue and queue.has_more], now)
        if not self._after:
            self.next_due = self._due_later
        return numbers

    def cancel(self) -> None:
        """Cancel deliveries of webhooks that were disabled."""
        cancellation.cancel_claimed(self._run_id, self._canceled)
        for webhook in self._disabled:
            self.is_unfinished |= cancellation.cancel_batch(webhook)

    def claim(self, numbers: Numbers, now: datetime) -> list[ClaimedDelivery]:
        """Claim deliveries, cancel the deliveries of disabled webhooks, and return the others."""
        claimed = leases.claim_deliveries(self._run_id, numbers, now)
        by_webhook = Counter(delivery.webhook_id for delivery in claimed)
        for webhook_id, number in numbers.items():
            self._scheduler.get(webhook_id).note_claim(number, by_webhook[webhook_id])
        canceled = [delivery for delivery in claimed if self._is_canceled(delivery)]
        cancellation.cancel_claimed(self._run_id, canceled)
        self.is_unfinished |= bool(canceled)
        self._expect(now + _AFTER_CLAIM)
        ids = {delivery.id for delivery in canceled}
        return [delivery for delivery in claimed if delivery.id not in ids]

    def expect_retries(self, outcomes: Iterable[Outcome]) -> None:
        """Note when failed attempts are due again."""
        failures = (outcome for outcome in outcomes if outcome.error is not None)
        self._expect(*(retry_of(outcome).due_at for outcome in failures))

    def _expect(self, *moments: datetime | None) -> None:
        """Note due times that this round may not find."""
        self.next_due = min(filter(None, (self.next_due, *moments)), default=None)
        self._due_later = min(filter(None, (self._due_later, *moments)), default=None)

    def _plan(self, due: Sequence[WebhookQueue], now: datetime) -> Numbers:
        """Return the number of deliveries to claim for each webhook. Of the receivers that are not
        known to respond, those probed longest ago come first, so that each gets its turn."""
        idle = [queue for queue in due if not queue.health.is_responding and not queue.is_active]
        probed = sorted(idle, key=lambda queue: queue.claimed_at)
        responding = (queue for queue in due if queue.health.is_responding)
        numbers = self._within_budget((*responding, *islice(probed, PROBED_AT_ONCE)))
        if self.is_over_budget:
            self._expect(now + _RETRY_AFTER)
        elif len(probed) > PROBED_AT_ONCE:
            self._expect(now)
        return numbers

    def _within_budget(self, queues: Sequence[WebhookQueue]) -> Numbers:
        """Divide the budget. Accounts with the fewest claimed deliveries come first; else a few
        accounts with much to send could leave nothing to the others."""
        budget = ClaimBudget(self._scheduler, queues)
        in_order = sorted(queues, key=budget.queued)
        numbers = {queue.pending.webhook_id: budget.claim(queue) for queue in in_order}
        self.is_over_budget = budget.is_exceeded
        return {webhook_id: number for webhook_id, number in numbers.items() if number}

    def _is_canceled(self, delivery: ClaimedDelivery) -> bool:
        return self._scheduler.get(delivery.webhook_id).is_canceled(delivery)
