"""The filter language of OGC API Features: CQL2 (OGC 21-065r2), as text and as JSON. No I/O.

``text`` and ``json`` read a filter; both make it with a ``building.Builder``, which knows the
properties and their kinds. What comes out is a tree of ``nodes``.
"""
