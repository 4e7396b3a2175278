"""The delivery job: sends events to webhooks.

After ``app.events.outbox`` has written a delivery's row and notified the job:

* ``dispatcher`` is the job's main loop, in one thread. ``due`` scans which webhooks have something
  due and claims some of it; ``leases`` has the statements, ``cancellation`` those for webhooks that
  were disabled.
* ``fair_scheduler`` decides whose turn it is. The state of each webhook is in ``webhook_queue``.
* ``sender_pool`` has the threads that sign and post a delivery through ``app.outbound``.
* ``outcomes`` records attempts, many at once: the log, retries, and the health of the webhooks
  (``health``), which may disable one.
* ``metrics`` counts attempts in Valkey, and reads the counts and the backlog.

``jobs`` starts it all, and ``types`` has the values that pass between these.
"""
