"""The audit log: ``entries`` are written in the transaction of a change, and ``guard`` refuses a
change without one. ``log`` reads, exports and seals them, ``proof`` verifies them.

``app.policy.audit`` lists the actions, and the tables whose changes need an entry.
"""
