"""The features of a file: read, checked, and compared with the projects or assets of an account.

``reader_process`` reads a file in a separate process (``reader_program``); ``mapping`` maps columns
to fields, and ``candidates`` checks the values. ``project_matching`` or, for assets,
``asset_targets`` decides about each feature, by its external id first (``external_ids``), for as
long as ``bounded`` lets it; ``project_targets`` and ``asset_targets`` write it, and undo it.
``faults``, ``sums`` and ``text_changes`` count over the features.

* feature: a geometry and its properties, as they are in the file;
* candidate: a feature whose values were checked and can be stored; otherwise it is rejected;
* target: the project or asset that a candidate becomes or changes;
* decision: what happens to a candidate, and which target and fields that concerns;
* verdict: the decision in a word: new, changed, same or rejected;
* state: what was done with it since: applied, undone, or kept as somebody had changed it.
"""
