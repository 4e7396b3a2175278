"""The audit log: ``entries``, written in the transaction of the change that they record, and
``guard``, which refuses a change without one. ``log`` reads, exports and seals them, ``proof``
verifies them.

``app.policy.audit`` lists the actions, and the tables whose changes need an entry.
"""
