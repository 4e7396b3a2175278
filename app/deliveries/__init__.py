"""The delivery job: events go to webhooks.

The path of one delivery through the modules, after ``app.outbox`` has written its row and rung:

* ``drain``: one thread that goes round and round until there is nothing to do. It looks (``look``)
  which endpoints something is due for, and claims some of it (``claims``: a lease on rows).
* ``rotation`` decides whose turn it is, by what is known of each endpoint (``course``).
* ``senders`` has threads that each sign and post a claimed delivery (``parcel``) through
  ``app.egress``, and give back how it went.
* ``settling`` writes that down, many at once: the log, retries (``ledger``), and the health of the
  webhooks (``health``), which may disable one.
* ``measures`` counts attempts in the store, and ``gauges`` reads the counts and the backlog.
"""
