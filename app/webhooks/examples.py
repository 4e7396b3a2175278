"""Examples for the API's description."""

from __future__ import annotations

from typing import Any, Final

WEBHOOK_BODY: Final[dict[str, Any]] = {
    "url": "https://hooks.example.org/canopy",
    "events": ["project.created", "project.updated", "asset.status_changed"],
    "description": "The registry",
}
WEBHOOK: Final[dict[str, Any]] = {
    "id": "wh_01k9zqf0v7c3s6m1e8y2r5t9wd",
    **{name: WEBHOOK_BODY[name] for name in ("url", "description", "events")},
    "enabled": True,
    "status": "healthy",
    "disabled_reason": None,
    "last_success_at": None,
    "consecutive_failures": 0,
    "created_at": "2026-01-02T03:04:05.678Z",
    "updated_at": "2026-01-02T03:04:05.678Z",
}
SECRET: Final = "whsec_mYq0dN8fLr2Vt4xK6bG1hJ3sZ5cW7eQ9uAoTfYpD"  # noqa: S105 - nobody's
WEBHOOK_WITH_SECRET: Final[dict[str, Any]] = {**WEBHOOK, "secret": SECRET}
WEBHOOK_CHANGE: Final[dict[str, Any]] = {"events": ["*"], "description": "Registry and archive"}
ROTATION_BODY: Final[dict[str, Any]] = {"overlap_hours": 48}
ROTATION: Final[dict[str, Any]] = {
    **WEBHOOK_WITH_SECRET,
    "former_secret_until": "2026-01-04T03:04:05.678Z",
}
QUEUED_TEST: Final[dict[str, Any]] = {
    "event_id": "evt_01k9zqg4h2p7x0d5b8n3k6v9ra",
    "event_type": "webhook.test",
    "status": "queued",
}
REPLAY_BODY: Final[dict[str, Any]] = {
    "since": "2026-01-02T00:00:00Z",
    "event_types": ["project.created"],
}
REPLAY: Final[dict[str, Any]] = {
    "replayed": 12,
    "replay_id": "rpl_01k9zqh8m5t1w4c7e0g3j6q9sy",
}
REPLAY_PROGRESS: Final[dict[str, Any]] = {
    "replay_id": REPLAY["replay_id"],
    "status": "running",
    "total": 12,
    "sent": 7,
    "retrying": 1,
    "since": "2026-01-02T00:00:00.000Z",
    "until": "2026-01-02T03:04:05.678Z",
    "event_types": ["project.created"],
    "only_failed": False,
    "created_at": "2026-01-02T03:04:05.678Z",
}
LOG: Final[dict[str, Any]] = {
    "id": "log_01k9zqj2s8y4a7d0f3h6m9p1vb",
    "event_id": "evt_01k9zq3n8d1v6c0r4t7y2w5xke",
    "event_type": "project.created",
    "status": "failed",
    "response_code": 503,
    "error": "answered 503",
    "delivered_at": "2026-01-02T03:04:05.812Z",
    "next_retry_at": "2026-01-02T03:05:05.812Z",
    "attempt": 1,
    "cause": "event",
    "delivery_id": "dlv_01k9zq3n8e5b9h2k6q0s4x7zmf",
}
LOG_DETAIL: Final[dict[str, Any]] = {
    **LOG,
    "request": {
        "headers": {
            "Content-Type": "application/json",
            "User-Agent": "Canopy-Webhooks/1",
            "X-Service-Event": LOG["event_type"],
            "X-Service-Delivery": LOG["delivery_id"],
            "webhook-id": LOG["event_id"],
            "webhook-timestamp": "1767323045",
        }
    },
    "timing": {
        "resolve_ms": 3,
        "connect_ms": 21,
        "tls_ms": 40,
        "wait_ms": 58,
        "total_ms": 124,
    },
}
REDELIVERY: Final[dict[str, Any]] = {
    "delivery_id": "dlv_01k9zqk7w3z9c2g5j8n1r4t6xh",
    "event_id": LOG["event_id"],
    "event_type": LOG["event_type"],
    "status": "queued",
}
