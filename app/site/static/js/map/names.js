// The names of countries and towns on the map of the app's own files.

import { overlap } from "./shapes.js";

const { L } = window;
const MOST_ZOOM = 8; // of countries: beyond it, the middle of one is rarely in view
const MOST_NAMES = 150;
const HEIGHT = 15; // pixels of a name
const DOT = 6; // pixels from a town to its name
const ABOVE = ".leaflet-control, .shape-name, .graticule-numbers > span"; // over which no name is shown
const LARGE = 7; // the zoom from which on a town is named; those of small towns are larger

const pen = document.createElement("canvas").getContext("2d");

/** Where a name is, in pixels of the map: a country's around a point, in capitals, a town's beside it. */
function areaOf({ name, isTown }, { x, y }, font) {
  pen.font = font;
  const width = isTown ? pen.measureText(name).width : 1.1 * pen.measureText(name.toUpperCase()).width;
  const left = isTown ? x - DOT / 2 : x - width / 2;
  return { left, right: left + width + (isTown ? 2 * DOT : 0), top: y - HEIGHT / 2, bottom: y + HEIGHT / 2 };
}

function iconOf({ name, isTown, isLarge }) {
  const text = document.createElement("bdi");
  text.textContent = name;
  const className = isTown ? `town-name${isLarge ? " large" : ""}` : "country-name";
  return L.divIcon({ html: text, className, iconSize: null });
}

/** Show the names for which there is room: countries, then towns, the largest first. files: as land.js
 * asks them. Returns what ends that. */
export function showNames(map, files, pane) {
  const markers = L.layerGroup().addTo(map);
  const font = `13px ${getComputedStyle(map.getContainer()).fontFamily}`;
  let shown = new Map();
  let last = 0;

  async function countries(zoom, [west, , east]) {
    if (zoom > MOST_ZOOM) return [];
    const known = await files.ask("countries");
    const wide = known.filter(([name, , box]) => ((box[2] - box[0]) / 360) * 256 * 2 ** zoom > name.length * 8);
    return [-360, 0, 360]
      .flatMap((turn) => wide.map(([name, [y, x]]) => ({ name, place: [x + turn, y] })))
      .filter(({ place: [x] }) => x > west && x < east);
  }

  async function show() {
    const number = (last += 1);
    const zoom = Math.round(map.getZoom());
    const view = map.getBounds().pad(0.15);
    const box = [view.getWest(), Math.max(view.getSouth(), -85), view.getEast(), Math.min(view.getNorth(), 85)];
    const towns = (await files.ask("towns", zoom, box)).map((town) => ({
      ...town, isTown: true, isLarge: town.zoom <= Math.min(LARGE, zoom - 2),
    }));
    const names = [...(await countries(zoom, box)), ...towns];
    if (number === last) place(names, zoom);
  }

  /** Names that are there already stay, so that they do not jump about while the map is moved. */
  function place(names, zoom) {
    const placed = new Map();
    const frame = map.getContainer().getBoundingClientRect();
    const taken = Array.from(map.getContainer().querySelectorAll(ABOVE), (element) => {
      const { x, y, width, height } = element.getBoundingClientRect();
      const [left, top] = [x - frame.x, y - frame.y];
      return { left, top, right: left + width, bottom: top + height };
    });
    const keyOf = ({ name, place: [x, y] }) => `${zoom} ${name} ${x} ${y}`;
    const [old, others] = [names.filter((each) => shown.has(keyOf(each))), names.filter((each) => !shown.has(keyOf(each)))];
    for (const each of [...old, ...others]) {
      if (placed.size === MOST_NAMES) break;
      const { place: [lng, lat] } = each;
      const area = areaOf(each, map.latLngToContainerPoint([lat, lng]), font);
      if (taken.some((other) => overlap(area, other))) continue;
      taken.push(area);
      const options = { icon: iconOf(each), pane, interactive: false, keyboard: false };
      const marker = shown.get(keyOf(each)) ?? L.marker([lat, lng], options).addTo(markers);
      placed.set(keyOf(each), marker);
    }
    for (const [key, marker] of shown) if (!placed.has(key)) marker.remove();
    shown = placed;
  }

  map.on("moveend featuresload", show);
  map.whenReady(show);
  return () => {
    last += 1;
    map.off("moveend featuresload", show);
    markers.remove();
  };
}
