"""File formats of boundaries and points: readers and writers, one module for each format.

No database and no account: ``readers`` turn a file into features in WGS 84, ``writers`` turn
features into a file. Files come from strangers; ``app.policy.files`` limits the work of reading
one, and lists the formats. ``readers.opening`` and ``writers.formats`` have the module for each.
"""
