// GeoJSON geometries: the boxes around them, and what they cover.

/** Whether a geometry covers a place; points and lines do within their reach, in degrees. */
export function covers({ type, coordinates, geometries }, lng, lat, reach = 0) {
  if (geometries) return geometries.some((each) => covers(each, lng, lat, reach));
  const parts = type.startsWith("Multi") ? coordinates : [coordinates];
  if (type.endsWith("Point")) return parts.some(([x, y]) => Math.abs(x - lng) <= reach && Math.abs(y - lat) <= reach);
  if (type.endsWith("LineString")) return parts.some((line) => isNear(line, lng, lat, reach));
  return parts.some((rings) => rings.reduce((inside, ring) => inside !== isInRing(ring, lng, lat), false));
}

function isNear(line, lng, lat, reach) {
  return line.slice(1).some(([x2, y2], number) => {
    const [x1, y1] = line[number];
    const length = (x2 - x1) ** 2 + (y2 - y1) ** 2;
    const part = length && Math.min(1, Math.max(0, ((lng - x1) * (x2 - x1) + (lat - y1) * (y2 - y1)) / length));
    return Math.hypot(x1 + part * (x2 - x1) - lng, y1 + part * (y2 - y1) - lat) <= reach;
  });
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

const positionsOf = ({ coordinates, geometries }) => coordinates ?? geometries.map(positionsOf);

/** West, south, east and north of a geometry. turn: of western longitudes. */
export function boxOfGeometry(geometry, turn = 0) {
  const box = [Infinity, Infinity, -Infinity, -Infinity];
  const visit = (coordinates) => {
    if (typeof coordinates[0] === "number") {
      const [x, y] = [coordinates[0] + (coordinates[0] < 0 ? turn : 0), coordinates[1]];
      box[0] = Math.min(box[0], x);
      box[1] = Math.min(box[1], y);
      box[2] = Math.max(box[2], x);
      box[3] = Math.max(box[3], y);
    } else coordinates.forEach(visit);
  };
  visit(positionsOf(geometry));
  return box;
}

/** True if two rectangles of a page have something in common. */
export function overlap(one, other) {
  return one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
}

/** The box around features, across the antimeridian if it is narrower so; null without any. */
export function boxAround(features) {
  const all = { geometries: features.map(({ geometry }) => geometry) };
  const [box, turned] = [boxOfGeometry(all), boxOfGeometry(all, 360)];
  if (!features.length) return null;
  return turned[2] - turned[0] < box[2] - box[0] ? turned : box;
}
