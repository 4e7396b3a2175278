"""Imports: features of a file become projects or assets.

One job of the worker (``jobs``) runs the step that an import waits for (``steps``), and continues
it after a crash (``leases``). Each step is a status of the import:

* ``reading`` (module ``preview``): choose how the file is read (``layer_plan``), with ``questions``
  about what it does not say, and decide about each feature (``features``). The decisions are stored
  (``feature_rows``) and shown, with ``overlaps``; nothing else is written yet.
* ``applying``: write the stored features, some in each transaction.
* ``undoing``: undo what was written, except what somebody changed since.
"""
