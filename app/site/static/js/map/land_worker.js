// Cuts land and borders into tiles, beside the page, which would stand still for a moment otherwise.

importScripts("../../third_party/geojson-vt.js", "../../third_party/topojson-client.min.js");

let index = null;

/** Rings that cross the antimeridian go on past 180° instead of back around the world. */
function unwrapped(ring) {
  let turns = 0;
  const positions = ring.map(([longitude, latitude], place) => {
    const before = place ? ring[place - 1][0] : longitude;
    if (Math.abs(longitude - before) > 180) turns += longitude < before ? 360 : -360;
    return [longitude + turns, latitude];
  });
  if (!turns) return positions;
  const [first, last] = [positions[0], positions[positions.length - 1]];
  return [...positions, [last[0], -90], [first[0], -90], first]; // Antarctica, around the pole
}

function asFeatures(topology) {
  const land = topojson.feature(topology, topology.objects.land);
  for (const { geometry } of land.features) {
    geometry.coordinates = geometry.coordinates.map((rings) => rings.map(unwrapped));
  }
  const borders = topojson.mesh(topology, topology.objects.countries, (one, other) => one !== other);
  return {
    type: "FeatureCollection",
    features: [...land.features, { type: "Feature", properties: {}, geometry: borders }],
  };
}

/** Twice the area of a ring in square degrees, and its middle. */
function measured(ring) {
  let [area, x, y] = [0, 0, 0];
  for (let place = 1; place < ring.length; place += 1) {
    const [[x1, y1], [x2, y2]] = [ring[place - 1], ring[place]];
    const part = x1 * y2 - x2 * y1;
    area += part;
    x += (x1 + x2) * part;
    y += (y1 + y2) * part;
  }
  return { area: Math.abs(area), middle: [x / (3 * area), y / (3 * area)] };
}

// What Natural Earth shortens in names.
const SHORT = {
  "Barb.": "Barbuda", "Br.": "British", "Dem.": "Democratic", "Eq.": "Equatorial", "Fr.": "French",
  "Geo.": "Georgia", "Gren.": "the Grenadines", "Herz.": "Herzegovina", "I.": "Island", "Is.": "Islands",
  "N.": "Northern", "Rep.": "Republic", "S.": "South", "St.": "Saint", "Ter.": "Territory",
  "Vin.": "Vincent", "W.": "Western",
};
const inFull = (name) => name.split(" ").map((word) => SHORT[word] ?? word).join(" ");

/** Each country's name, with the middle and the bounds of its largest part; latitude first in the
 * middle, west, south, east, north in the bounds. */
function countriesOf(topology) {
  return topojson.feature(topology, topology.objects.countries).features.flatMap(({ geometry, properties }) => {
    const polygons = geometry?.type === "Polygon" ? [geometry.coordinates] : (geometry?.coordinates ?? []);
    const rings = polygons.map(([ring]) => unwrapped(ring)).map((ring) => ({ ring, ...measured(ring) }));
    const { ring, middle } = rings.reduce((one, other) => (other.area > one.area ? other : one), rings[0] ?? {});
    if (!ring) return [];
    const [longitudes, latitudes] = [ring.map(([x]) => x), ring.map(([, y]) => y)];
    const box = [Math.min(...longitudes), Math.min(...latitudes), Math.max(...longitudes), Math.max(...latitudes)];
    return [{ name: inFull(properties.name), place: [middle[1], middle[0]], box }];
  });
}

onmessage = async ({ data: { load, options, number, tile } }) => {
  if (load) {
    const response = await fetch(load).catch(() => null);
    if (!response?.ok) {
      postMessage({ countries: [] }); // the graticule remains
      return;
    }
    const topology = await response.json();
    index = new GeoJSONVT(asFeatures(topology), options);
    postMessage({ countries: countriesOf(topology) });
  } else {
    postMessage({ number, features: index?.getTile(...tile)?.features ?? [] });
  }
};
