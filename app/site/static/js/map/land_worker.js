// Loads the tiles that bin/_map_data.py wrote, and cuts them smaller, beside the page, which would
// stand still for a moment otherwise.

importScripts("../../third_party/geojson-vt.js");

const EXTENT = 32768; // of a file
const MOST_FILES = 60; // that are kept
const files = new Map(); // by name, the latest last: promises of {shapes, towns}
let base, options;
let index; // a promise of index.json, or of null without it

// The levels of the files for a zoom. The shapes of the world are one file.
const levelOfShapes = (zoom) => (zoom < 7 ? 0 : 5);
const levelsOfTowns = (zoom) => (zoom < 3 ? [] : zoom < 7 ? [2] : zoom < 9 ? [5] : [5, 7]);

/** A position in a tile, in degrees. */
function degrees(x, y, level, column, row) {
  const tiles = 2 ** level;
  const mercator = Math.PI * (1 - (2 * (row + y / EXTENT)) / tiles);
  return [((column + x / EXTENT) / tiles) * 360 - 180, (Math.atan(Math.sinh(mercator)) * 180) / Math.PI];
}

/** The positions of a line or ring, from its first one and differences. */
function positions(numbers, ...tile) {
  let [x, y] = [0, 0];
  return Array.from({ length: numbers.length / 2 }, (_, place) => {
    x += numbers[2 * place];
    y += numbers[2 * place + 1];
    return degrees(x, y, ...tile);
  });
}

/** One feature of each kind. Holes are rings like the others: drawn together, they stay empty. */
function asFeatures(content, tile) {
  return ["land", "lakes", "borders", "rivers"].flatMap((kind) => {
    if (!content[kind]) return [];
    const lines = content[kind].map((numbers) => positions(numbers, ...tile));
    const isArea = kind === "land" || kind === "lakes";
    const geometry = isArea
      ? { type: "MultiPolygon", coordinates: lines.map((ring) => [ring]) }
      : { type: "MultiLineString", coordinates: lines };
    return { type: "Feature", properties: { kind }, geometry };
  });
}

/** True if there is a file; elsewhere is nothing but sea. */
function exists(levels, level, column, row) {
  if (level === 0) return true;
  const place = column * 2 ** level + row;
  const digits = levels[level];
  return (parseInt(digits[digits.length - 1 - (place >> 2)], 16) >> (place & 3)) % 2 === 1;
}

async function read(...tile) {
  const response = await fetch(`${base}${tile.join("/")}.json`);
  if (!response.ok) throw new Error(response.statusText);
  const content = await response.json();
  const collection = { type: "FeatureCollection", features: asFeatures(content, tile) };
  const towns = (content.towns ?? []).map(([name, zoom, x, y]) => ({ name, zoom, place: degrees(x, y, ...tile) }));
  return { shapes: new GeoJSONVT(collection, options), towns };
}

/** What a file has; null if it cannot be loaded, which is tried again the next time. */
async function file(...tile) {
  const name = tile.join("/");
  const there = await index;
  if (!there) return null;
  if (!exists(there.levels, ...tile)) return { towns: [] };
  const found = files.get(name) ?? read(...tile);
  files.delete(name);
  files.set(name, found);
  if (files.size > MOST_FILES) files.delete(files.keys().next().value);
  return found.catch(() => {
    files.delete(name);
    return null;
  });
}

/** The shapes of a tile; null if they are not known. */
async function shapes(zoom, x, y) {
  const level = levelOfShapes(zoom);
  const found = await file(level, x >> (zoom - level), y >> (zoom - level));
  return found && (found.shapes?.getTile(zoom, x, y)?.features ?? []);
}

/** The towns in a box (west, south, east, north) that are named at a zoom, the largest first. */
async function towns(zoom, [west, south, east, north]) {
  const found = await Promise.all(
    levelsOfTowns(zoom).flatMap((level) => tilesIn(level, west, south, east, north)).map(async ([level, column, row]) => {
      const side = 2 ** level;
      const turn = Math.floor(column / side);
      const there = await file(level, column - turn * side, row);
      return (there?.towns ?? []).map((town) => ({ ...town, place: [town.place[0] + turn * 360, town.place[1]] }));
    }),
  );
  return found
    .flat()
    .filter(({ zoom: from, place: [x, y] }) => from <= zoom && x >= west && x <= east && y >= south && y <= north)
    .sort((one, other) => one.zoom - other.zoom);
}

/** The tiles of a level in a box; columns may be beyond the antimeridian. */
function tilesIn(level, west, south, east, north) {
  const side = 2 ** level;
  const column = (longitude) => Math.floor(((longitude + 180) / 360) * side);
  const row = (latitude) => {
    const mercator = Math.asinh(Math.tan((latitude * Math.PI) / 180)) / Math.PI;
    return Math.min(side - 1, Math.max(0, Math.floor(((1 - mercator) / 2) * side)));
  };
  const tiles = [];
  for (let x = column(west); x <= column(east); x += 1) {
    for (let y = row(north); y <= row(south); y += 1) tiles.push([level, x, y]);
  }
  return tiles;
}

async function readIndex() {
  const response = await fetch(`${base}index.json`).catch(() => null);
  return response?.ok ? response.json() : null;
}

const ANSWERS = {
  countries: async () => (await index)?.countries ?? [],
  shapes,
  towns,
};

onmessage = async ({ data: { load, number, ask, given } }) => {
  if (load) {
    ({ base, options } = load);
    index = readIndex();
  } else {
    postMessage({ number, answer: await ANSWERS[ask](...given) });
  }
};
