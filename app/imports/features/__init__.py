"""The features of a file: read, checked, and compared with what an account has.

``reader_process`` reads a file in a process of its own; ``mapping`` says which column is read as
which field, and ``candidates`` checks the values. What becomes of a feature is decided by
``project_matching`` or, for assets, ``asset_targets``; ``project_targets`` and ``asset_targets``
write it, and take it back.

* feature: a geometry and its properties, as the file has them;
* candidate: a feature whose values were checked and can be stored; otherwise it is rejected;
* target: the project or asset that a candidate becomes or changes;
* decision: what becomes of a candidate, and which target and fields that concerns;
* verdict: the decision in a word: new, changed, same or rejected;
* state: what was done with it since: applied, undone, or kept as somebody had changed it.
"""
