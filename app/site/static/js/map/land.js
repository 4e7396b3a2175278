// The map of the app's own files, without any other server: land, borders, lakes, rivers, names and
// a graticule. Nothing is loaded until it is on a map, and then what that shows.

import { color } from "./colors.js";
import { drawGraticule, showNumbers } from "./graticule.js";
import { showNames } from "./names.js";
import { outline, ShapeTiles, TILE_OPTIONS } from "./shape_tiles.js";

const FILES = new URL("../../third_party/map/", import.meta.url).href;
const SOURCES = "Natural Earth, GSHHG, GeoNames (CC BY 4.0)";
const PANES = { land: 150, names: 440 }; // below and above the shapes, which have 200 to 400

/** How each kind is drawn: whether it is filled, and with what, and its line. */
const STYLES = {
  land: { fill: "land", line: "border", width: 0.8, dash: [] },
  lakes: { fill: "sea", line: "river", width: 0.8, dash: [] },
  rivers: { line: "river", width: 1, dash: [] },
  borders: { line: "border", width: 1.2, dash: [5, 3] },
};

/** features: null where what is there is not known. */
function drawLand(context, features, { scale, coords, size }) {
  context.fillStyle = color(features ? "sea" : "land");
  context.fillRect(0, 0, size, size);
  for (const feature of features ?? []) {
    const { fill, line, width, dash } = STYLES[feature.tags.kind];
    const path = outline(feature, scale);
    if (fill) {
      context.fillStyle = color(fill);
      context.fill(path, "evenodd");
    }
    context.strokeStyle = color(line);
    context.lineWidth = width;
    context.setLineDash(dash);
    context.stroke(path);
  }
  context.setLineDash([]);
  drawGraticule(context, coords, size);
}

/** What land_worker.js answers. */
class Files {
  constructor() {
    this.waiting = new Map();
    this.number = 0;
    this.worker = new Worker(new URL("land_worker.js", import.meta.url));
    this.worker.onmessage = ({ data: { number, answer } }) => {
      this.waiting.get(number)(answer);
      this.waiting.delete(number);
    };
    this.worker.postMessage({ load: { base: FILES, options: { ...TILE_OPTIONS, buffer: 64 } } });
  }

  ask(ask, ...given) {
    const number = (this.number += 1);
    this.worker.postMessage({ number, ask, given });
    return new Promise((resolve) => this.waiting.set(number, resolve));
  }

  features(...tile) {
    return this.ask("shapes", ...tile);
  }
}

const LandLayer = ShapeTiles.extend({
  onAdd(map) {
    for (const [name, height] of Object.entries(PANES)) {
      const pane = map.getPane(name) ?? map.createPane(name);
      pane.style.zIndex = height;
      pane.style.pointerEvents = "none";
      pane.setAttribute("aria-hidden", "true");
    }
    this._files ??= new Files();
    this.setTiles(this._files);
    ShapeTiles.prototype.onAdd.call(this, map);
    this._hide = [showNames(map, this._files, "names"), showNumbers(map)];
  },

  onRemove(map) {
    for (const hide of this._hide) hide();
    ShapeTiles.prototype.onRemove.call(this, map);
  },
});

export function landLayer() {
  return new LandLayer(drawLand, { attribution: SOURCES, pane: "land" });
}
