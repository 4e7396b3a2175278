"""OGC API Features at ``/ogc``, for QGIS, GDAL and other programs that draw maps.

Parts 1 (core, GeoJSON, HTML, OpenAPI), 2 (coordinate systems), 3 (filters), 4 (create, replace,
update, delete) and 5 (schemas). A request goes through these modules:

* ``routes`` and ``views``: the addresses, what each needs, and the operations;
* ``operations``: the credential and its permission, the form of the response;
* ``collections``: what there is to read, projects and assets;
* ``parameters``: which features a query means;
* ``items`` and ``features``: reads them, and writes each as GeoJSON;
* ``bulk_reads``: which reads the audit log records;
* ``feature_collections`` and ``responses``: pages of them, which are kept to be sent again;
* ``editing`` and ``bodies``: changes them through the services of projects and assets;
* ``documents``, ``properties``, ``api_document`` and ``api_components``: what the service says of
  itself;
* ``pages``: the same for people, with a map.
"""
