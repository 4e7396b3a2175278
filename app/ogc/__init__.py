"""OGC API Features at ``/ogc``, for QGIS, GDAL and other programs that draw maps.

Parts 1 (core, GeoJSON, HTML, OpenAPI), 2 (coordinate systems), 3 (filters), 4 (create, replace,
update, delete) and 5 (schemas). A request goes through these modules:

* ``routes`` and ``views``: the paths with their permissions, and the operations;
* ``operations``: the credential and its permission;
* ``collections``: the collections, projects and assets;
* ``parameters``: the query and its filters;
* ``items`` and ``features``: reading features, and their GeoJSON;
* ``bulk_reads``: entries of the audit log about large reads;
* ``feature_collections`` and ``responses``: pages of features, which are cached;
* ``editing`` and ``bodies``: changes, through the services of projects and assets;
* ``documents``, ``properties``, ``api_document`` and ``api_components``: the documents about the
  service;
* ``pages``: the same for people, with a map.
"""
