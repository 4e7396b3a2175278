// GeoJSON geometries: the boxes around them, and what they cover.

/** Whether a geometry covers a place; a point does within its reach, in degrees. */
export function covers(geometry, lng, lat, reach = 0) {
  if (geometry.type === "Point") {
    const [x, y] = geometry.coordinates;
    return Math.abs(x - lng) <= reach && Math.abs(y - lat) <= reach;
  }
  const parts = geometry.type === "Polygon" ? [geometry.coordinates] : geometry.coordinates;
  return parts.some((rings) => rings.reduce((inside, ring) => inside !== isInRing(ring, lng, lat), false));
}

function isInRing(ring, lng, lat) {
  let inside = false;
  for (let i = 0, j = ring.length - 1; i < ring.length; j = i++) {
    const [x1, y1] = ring[i];
    const [x2, y2] = ring[j];
    if (y1 > lat !== y2 > lat && lng < ((x2 - x1) * (lat - y1)) / (y2 - y1) + x1) inside = !inside;
  }
  return inside;
}

/** West, south, east and north of a geometry. */
export function boxOfGeometry(geometry) {
  const box = [Infinity, Infinity, -Infinity, -Infinity];
  const visit = (coordinates) => {
    if (typeof coordinates[0] === "number") {
      box[0] = Math.min(box[0], coordinates[0]);
      box[1] = Math.min(box[1], coordinates[1]);
      box[2] = Math.max(box[2], coordinates[0]);
      box[3] = Math.max(box[3], coordinates[1]);
    } else coordinates.forEach(visit);
  };
  visit(geometry.coordinates);
  return box;
}

/** True if two rectangles of a page have something in common. */
export function overlap(one, other) {
  return one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
}
