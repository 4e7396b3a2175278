"""Reads and edits a layer in QGIS, without a window. Run by a Python that has QGIS:

python3 - URL COLLECTION USER PASSWORD WEST SOUTH EAST NORTH < trials/clients/qgis_program.py

Writes what QGIS found of the layer, as JSON. With ``-`` for USER no user name is sent, and nothing
is edited. QGIS can edit such layers from version 3.32 on.
"""

import json
import sys

from qgis.core import (
    Qgis,
    QgsApplication,
    QgsFeature,
    QgsFeatureRequest,
    QgsGeometry,
    QgsRectangle,
    QgsVectorLayer,
    QgsWkbTypes,
)

SHAPE = "MultiPolygon (((1 1, 1.01 1, 1.01 1.01, 1 1)))"
MOVED = "MultiPolygon (((2 1, 2.01 1, 2.01 1.01, 2 1)))"


def edit(layer):
    """Add a feature, change its boundary and its status, and delete it. What each step returned."""
    new = QgsFeature(layer.fields())
    new.setGeometry(QgsGeometry.fromWkt(SHAPE))
    new["name"] = "By QGIS"
    done = [layer.startEditing() and layer.addFeature(new) and layer.commitChanges()]
    (made,) = [each for each in layer.getFeatures() if each["name"] == "By QGIS"]
    layer.startEditing()
    layer.changeGeometry(made.id(), QgsGeometry.fromWkt(MOVED))
    done.append(layer.commitChanges())
    layer.startEditing()
    layer.changeAttributeValue(made.id(), layer.fields().indexOf("status"), "archived")
    done.append(layer.commitChanges())
    layer.startEditing()
    layer.deleteFeature(made.id())
    return [*done, layer.commitChanges()]


def main(url, collection, user, password, *box):
    """Read the layer: all of it, a box, by an attribute, with a filter on the server. Edit it."""
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
        layer.setSubsetString("")
        if user != "-" and Qgis.QGIS_VERSION_INT >= 33200:
            found["edited"] = edit(layer)
    sys.stdout.write(json.dumps(found))
    del layer
    application.exitQgis()


if __name__ == "__main__":
    main(*sys.argv[1:])
