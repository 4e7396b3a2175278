"""Imports: features of a file become projects or assets.

One job of the worker (``jobs``) runs the step that an import waits for (``steps``), and continues
it after a crash (``leases``). Each step is a status of the import:

* ``reading``: the file is read, and ``features`` decides about each feature. That is stored
  (``feature_rows``) and shown, with what the boundaries overlap with (``overlaps``); nothing else
  is written yet. Module ``reading``.
* ``applying``: the stored features are written, some in each transaction. Module ``applying``.
* ``undoing``: what was written is undone, except what somebody changed since. Module ``undoing``.
"""
