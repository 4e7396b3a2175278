"""pygeoapi over the boundaries that Canopy is measured with, for ``bench.beside_pygeoapi``.

It runs in an environment of its own, which ``environment`` makes, and is no dependency of Canopy.
``wsgi`` and ``memory`` are loaded there, by pygeoapi's Python; ``config.yml`` is its configuration.
``data`` fills a database for it.
"""
