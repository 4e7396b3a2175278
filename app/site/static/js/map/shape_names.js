// The names of features on a map: inside a shape, or beside it, where that covers nothing.

import { overlap } from "./shapes.js";

const LINE = 16; // pixels, the height of a name
const WIDEST = 220; // pixels; longer names end in an ellipsis
const LEAST = 56; // pixels of a name that is cut off to fit into its shape
const DOT = 5; // pixels, the radius that is kept free around a point
const MOST = 200; // names
const FEW = 100; // features in view, of which those without room inside have names beside them
const PARTS = [0.5, 0.4, 0.6, 0.3, 0.7]; // of the height of a shape, where its name is tried
const ruler = document.createElement("canvas").getContext("2d");
const widths = new Map(); // of names, in pixels

/** Keep the names of a layer's features on a map. They are elements, which move with the map. */
export function showShapeNames(map, layer) {
  const pane = map.createPane("shape-names");
  pane.setAttribute("aria-hidden", "true"); // the list has them all
  const clear = () => pane.replaceChildren();
  const place = () => pane.replaceChildren(...placeNames(map, layer.features).map((name) => elementOf(map, name)));
  map.on("zoomstart", clear);
  map.on("moveend featuresload", place);
}

function elementOf(map, { text, x, y, width }) {
  const element = document.createElement("span");
  element.className = "shape-name";
  element.dir = "auto";
  element.textContent = text;
  const point = map.containerPointToLayerPoint([x, y]);
  element.style.left = `${point.x}px`;
  element.style.top = `${point.y}px`;
  element.style.maxWidth = `${Math.ceil(width)}px`;
  return element;
}

/** Where names have room: their middles and widths in pixels of the map. */
export function placeNames(map, features) {
  const size = map.getSize();
  const [view, middle] = [map.getBounds(), map.getCenter().lng];
  const turnOf = ([west, , east]) => 360 * Math.round((middle - (west + east) / 2) / 360);
  const inView = features.filter(({ box }) => {
    const [[west, south, east, north], turn] = [box, turnOf(box)];
    return east + turn > view.getWest() && west + turn < view.getEast() && north > view.getSouth() && south < view.getNorth();
  });
  const areFew = inView.length <= FEW;
  const least = areFew ? 0 : (LEAST * 360) / (256 * 2 ** map.getZoom()); // degrees
  const seen = inView.filter(({ box }) => box[2] - box[0] >= least).map((feature) => {
    const [[west, south, east, north], turn] = [feature.box, turnOf(feature.box)];
    const { x: left, y: top } = map.latLngToContainerPoint([north, west + turn]);
    const { x: right, y: bottom } = map.latLngToContainerPoint([south, east + turn]);
    const around = right - left < DOT ? DOT : 0;
    return { feature, turn, left: left - around, top: top - around, right: right + around, bottom: bottom + around };
  });
  seen.sort((one, other) => extent(other) - extent(one));
  const taken = [];
  for (const shape of seen) {
    if (taken.length === MOST) break;
    const text = shape.feature.properties.name;
    if (!text) continue;
    const width = Math.min(widthOf(map, text), WIDEST);
    const inside = placeInside(map, shape, width, size);
    const name = inside ?? (areFew ? placeBeside(shape, width, seen, size) : null);
    if (!name) continue;
    const box = { left: name.x - name.width / 2, right: name.x + name.width / 2, top: name.y - LINE / 2, bottom: name.y + LINE / 2 };
    if (!taken.some((other) => overlap(box, other))) taken.push({ ...box, ...name, text });
  }
  return taken;
}

const extent = ({ left, top, right, bottom }) => (right - left) * (bottom - top);

function widthOf(map, text) {
  if (!widths.has(text)) {
    ruler.font = `600 12px ${getComputedStyle(map.getContainer()).fontFamily}`;
    widths.set(text, ruler.measureText(text).width + 8);
  }
  return widths.get(text);
}

function placeInside(map, shape, width, size) {
  const { feature, turn, left, right } = shape;
  const least = Math.min(width, LEAST);
  if (feature.geometry.type === "Point" || right - left < least || shape.bottom - shape.top < LINE) return null;
  const [top, bottom] = [Math.max(shape.top, 0), Math.min(shape.bottom, size.y)];
  let best = null;
  for (const part of PARTS) {
    const y = top + (bottom - top) * part;
    const [above, below] = [-LINE / 2, LINE / 2].map((shift) => widestSpan(map, feature, turn, y + shift, size));
    const [from, to] = [Math.max(above[0], below[0]), Math.min(above[1], below[1])];
    const room = Math.min(to - from, width);
    if (room >= least && room > (best?.width ?? 0)) best = { x: (from + to) / 2, y, width: room };
    if (best?.width === width) break;
  }
  return best;
}

/** From where to where, in pixels, a shape is widest at a height of the map. */
function widestSpan(map, { geometry }, turn, y, size) {
  const { lat } = map.containerPointToLatLng([0, y]);
  const rings = geometry.type === "Polygon" ? geometry.coordinates : geometry.coordinates.flat();
  const crossings = [];
  for (const ring of rings) {
    for (let i = 1; i < ring.length; i++) {
      const [[x1, y1], [x2, y2]] = [ring[i - 1], ring[i]];
      if (y1 > lat !== y2 > lat) crossings.push(x1 + ((lat - y1) / (y2 - y1)) * (x2 - x1));
    }
  }
  crossings.sort((one, other) => one - other);
  let widest = [0, 0];
  for (let i = 1; i < crossings.length; i += 2) {
    const [from, to] = [crossings[i - 1], crossings[i]].map((lng) => map.latLngToContainerPoint([lat, lng + turn]).x);
    const [start, end] = [Math.max(from, 0), Math.min(to, size.x)];
    if (end - start > widest[1] - widest[0]) widest = [start, end];
  }
  return widest;
}

/** To the right of a shape or to its left, where the name is whole and covers no other. */
function placeBeside({ left, top, right, bottom, feature }, width, seen, size) {
  const y = (top + bottom) / 2;
  for (const x of [right + 6 + width / 2, left - 6 - width / 2]) {
    const box = { left: x - width / 2, right: x + width / 2, top: y - LINE / 2, bottom: y + LINE / 2 };
    if (box.left < 0 || box.right > size.x || box.top < 0 || box.bottom > size.y) continue;
    if (!seen.some((other) => other.feature !== feature && overlap(box, other))) return { x, y, width };
  }
  return null;
}
