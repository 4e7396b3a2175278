// A Leaflet layer that draws shapes on canvas tiles, each in a task of its own, so that dragging a
// map with thousands of them stays smooth.

import { onThemeChange } from "./colors.js";

const { L, GeoJSONVT } = window;
const EXTENT = 4096;
// Zoom levels beyond the last one with a tile of its own are cut out of that one.
export const TILE_OPTIONS = { maxZoom: 22, extent: EXTENT, tolerance: 1, indexMaxPoints: 20000 };

const waiting = [];
let isRunning = false;

function schedule(task) {
  waiting.push(task);
  if (isRunning) return;
  isRunning = true;
  setTimeout(runNext);
}

async function runNext() {
  const task = waiting.shift();
  if (!task) {
    isRunning = false;
    return;
  }
  try {
    await task();
  } catch (error) {
    reportError(error); // the others are drawn all the same
  }
  setTimeout(runNext);
}

export const ShapeTiles = L.GridLayer.extend({
  options: { buffer: 64, updateWhenIdle: false, keepBuffer: 2, fadeAnimation: false },

  /** draw(context, features, {scale, coords, size}): features as geojson-vt cuts them. The option
   * buffer, of EXTENT, says how far beyond its edges a tile draws: 128 are 8 pixels; index has
   * others of TILE_OPTIONS. */
  initialize(draw, options) {
    L.GridLayer.prototype.initialize.call(this, options);
    this._draw = draw;
    this._source = null;
  },

  onAdd(map) {
    L.GridLayer.prototype.onAdd.call(this, map);
    this._ignoreTheme = onThemeChange(() => this.repaint());
  },

  onRemove(map) {
    this._ignoreTheme();
    L.GridLayer.prototype.onRemove.call(this, map);
  },

  /** Draw what a source has: features(z, x, y) gives those of a tile, or a promise of them, for which
   * no other tile waits. */
  setTiles(source) {
    this._source = source;
  },

  /** Draw other shapes from now on: a GeoJSON FeatureCollection. */
  setData(collection) {
    const index = new GeoJSONVT(collection, { ...TILE_OPTIONS, ...this.options.index, buffer: this.options.buffer });
    this.setTiles({ features: (...tile) => index.getTile(...tile)?.features ?? [] });
    this.repaint();
  },

  /** Draw all tiles anew, in place. */
  repaint() {
    for (const { el, coords } of Object.values(this._tiles ?? {})) {
      if (el.isDue) continue; // it waits, and will be drawn as all is by then
      el.isDue = true;
      this._paint(el, this._wrapCoords(coords));
    }
  },

  /** Call a function once everything that waits has been drawn. */
  whenPainted(run) {
    schedule(run);
  },

  createTile(coords, done) {
    const canvas = document.createElement("canvas");
    this._paint(canvas, coords, () => done(null, canvas));
    return canvas;
  },

  _paint(canvas, { z, x, y }, done = () => {}) {
    schedule(() => {
      if (!canvas.isConnected) return; // the map was moved away meanwhile
      const given = this._source?.features(z, x, y) ?? [];
      if (!(given instanceof Promise)) return this._drawOn(canvas, { z, x, y }, given, done);
      given.then((features) => schedule(() => this._drawOn(canvas, { z, x, y }, features, done)));
    });
  },

  _drawOn(canvas, coords, features, done) {
    canvas.isDue = false;
    const size = this.getTileSize();
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    canvas.width = size.x * ratio;
    canvas.height = size.y * ratio;
    const context = canvas.getContext("2d");
    context.scale(ratio, ratio);
    this._draw(context, features, { scale: size.x / EXTENT, coords, size: size.x });
    done();
  },
});

/** The outline of a feature of a tile, as a path. */
export function outline(feature, scale) {
  const path = new Path2D();
  for (const ring of feature.geometry) {
    ring.forEach(([x, y], place) => {
      if (place === 0) path.moveTo(x * scale, y * scale);
      else path.lineTo(x * scale, y * scale);
    });
    if (feature.type === 3) path.closePath();
  }
  return path;
}
