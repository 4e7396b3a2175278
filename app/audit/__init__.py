"""The audit log: ``entries``, written in the transaction of what they tell of, and ``guard``, which
refuses a change without one. ``log`` reads, exports and seals them, ``proof`` verifies them.

``app.policy.audit`` lists the actions, and the tables whose changes need an entry.
"""
