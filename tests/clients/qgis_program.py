"""Reads a layer in QGIS, without a window. Run by Debian's Python, which has QGIS:

python3 tests/clients/qgis_program.py URL COLLECTION USER PASSWORD WEST SOUTH EAST NORTH

Writes what QGIS found of the layer, as JSON. With ``-`` for USER no user name is sent.
"""

import json
import sys

from qgis.core import (
    QgsApplication,
    QgsFeatureRequest,
    QgsRectangle,
    QgsVectorLayer,
    QgsWkbTypes,
)


def main(url, collection, user, password, *box):
    """Read the layer: all of it, a box, by an attribute, and with a filter on the server."""
    application = QgsApplication([], False)
    application.initQgis()
    source = f"url='{url}' typename='{collection}' pagingEnabled='true'"
    if user != "-":
        source += f" username='{user}' password='{password}'"
    layer = QgsVectorLayer(source, collection, "OAPIF")
    found = {"valid": layer.isValid()}
    if layer.isValid():
        features = list(layer.getFeatures())
        found |= {
            "count": len(features),
            "reported": layer.featureCount(),
            "geometry": QgsWkbTypes.displayString(layer.wkbType()),
            "crs": layer.crs().authid(),
            "fields": {field.name(): field.typeName() for field in layer.fields()},
            "hectares": sum(each["area_hectares"] or 0 for each in features),
        }
        west, south, east, north = map(float, box)
        request = QgsFeatureRequest().setFilterRect(QgsRectangle(west, south, east, north))
        found["in_box"] = len(list(layer.getFeatures(request)))
        request = QgsFeatureRequest().setFilterExpression("\"name\" = 'Stand 00042'")
        found["named"] = len(list(layer.getFeatures(request)))
        layer.setSubsetString("\"status\" = 'active' AND \"name\" LIKE 'Stand 0000%'")
        found["subset"] = len(list(layer.getFeatures()))
    sys.stdout.write(json.dumps(found))
    del layer
    application.exitQgis()


if __name__ == "__main__":
    main(*sys.argv[1:])
