"""The delivery job: sends events to webhooks.

``app.events.outbox`` writes the row of a delivery and notifies the job. Then:

* ``dispatcher`` is the job's main loop, in one thread. ``due`` scans for webhooks with due
deliveries
  and claims some; ``leases`` has the statements for that, ``cancellation`` those for disabled
  webhooks.
* ``fair_scheduler`` decides whose turn it is. ``webhook_queue`` has the state of a webhook.
* ``sender_pool`` has the threads that sign and post deliveries through ``app.outbound``.
* ``outcomes`` saves the outcomes of attempts in batches: the log, retries, and the health of the
  webhooks (``health``), which may disable one.
* ``metrics`` counts attempts in Valkey, and reads the backlog.

``jobs`` starts it all, and ``types`` has the values that they pass to each other.
"""
