// A GeoJSON Polygon or MultiPolygon as WKT.

const position = ([longitude, latitude]) => `${longitude} ${latitude}`;
const ring = (positions) => `(${positions.map(position).join(", ")})`;
const polygon = (rings) => `(${rings.map(ring).join(", ")})`;

export function toWkt({ type, coordinates }) {
  return type === "Polygon"
    ? `POLYGON ${polygon(coordinates)}`
    : `MULTIPOLYGON (${coordinates.map(polygon).join(", ")})`;
}
