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

onmessage = async ({ data: { load, options, number, tile } }) => {
  if (load) {
    const response = await fetch(load);
    if (!response.ok) return; // without land, the graticule remains
    index = new GeoJSONVT(asFeatures(await response.json()), options);
    postMessage({ isReady: true });
  } else {
    postMessage({ number, features: index?.getTile(...tile)?.features ?? [] });
  }
};
