"""The features of a file: read, checked, and compared with the projects or assets of an account.

``reader_process`` reads a file in a separate process (``reader_program``); ``mapping`` maps columns
to fields, and ``candidates`` checks the values. ``matching`` decides about each feature, by its
external id first; ``project_matching`` and ``asset_targets`` look up what it may be. ``targets``
writes a feature, and undoes it, by ``project_targets`` or ``asset_targets``. ``summary`` and
``layer_notes`` count over all features.

* feature: a geometry and its properties, as in the file;
* candidate: a feature whose values were checked and can be stored; others are rejected;
* target: the project or asset that a candidate becomes or changes;
* decision: what happens to a candidate, its target, and the fields that change;
* verdict: the decision in a word: new, changed, same or rejected;
* state: what was done since: applied, undone, or kept because somebody had changed it.
"""
