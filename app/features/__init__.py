"""The features of a file: read, checked, and compared with what an account has.

``reader_process`` reads a file in a process of its own; ``mapping`` says which column is read as
which field, and ``candidates`` checks the values. What becomes of a feature is decided by
``project_matching`` or, for assets, ``asset_targets``; ``project_targets`` and ``asset_targets``
write it, and take it back.
"""
