"""Imports: features of a file become projects or assets.

An import goes through these steps, each a job of the worker that goes on after a crash:

* ``reading``: the file is read, and ``app.features`` decides what becomes of each feature. That is
  stored, and shown: nothing else is written yet.
* ``applying``: the stored features are written, some in a transaction (``applying``).
* ``undoing``: what was written is taken back, but for what somebody changed since (``undoing``).
"""
