// The instance's own map: vector tiles of one file, light or dark like the page.

import { onThemeChange } from "./colors.js";

const { L } = window;
const SCRIPT = new URL("../../third_party/protomaps-leaflet.js", import.meta.url);
const dark = matchMedia("(prefers-color-scheme: dark)");
let script = null;

/** A Leaflet layer, whose code is loaded once it is on a map. It fires tileload and tileerror for
 * tiles. attribution: HTML; maxZoom: the last zoom of the file, enlarged beyond. */
export function basemapLayer(url, { attribution = "", maxZoom = 14 } = {}) {
  return new BasemapLayer({ url, attribution, maxDataZoom: maxZoom, maxZoom: 22, zIndex: 0 });
}

const BasemapLayer = L.LayerGroup.extend({
  initialize(options) {
    L.LayerGroup.prototype.initialize.call(this, [], options);
    this._tiles = null;
  },

  onAdd(map) {
    L.LayerGroup.prototype.onAdd.call(this, map);
    this._ignoreTheme = onThemeChange(() => this._show());
    this._show();
  },

  onRemove(map) {
    this._ignoreTheme();
    L.LayerGroup.prototype.onRemove.call(this, map);
  },

  async _show() {
    try {
      await (script ??= loadScript());
    } catch {
      script = null;
      return this.fire("tileerror");
    }
    const flavor = document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light");
    const lang = navigator.language.split("-")[0];
    const layer = window.protomapsL.leafletLayer({ ...this.options, flavor, lang });
    for (const rule of layer.paintRules) {
      if (rule.dataLayer === "water" && rule.minzoom === 14) rule.minzoom = 9; // rivers, if the file has them
    }
    if (!this._tiles) {
      layer.views.forEach((view) => this._fillGaps(view));
      this.addLayer((this._tiles = layer));
    } else {
      const { paintRules, labelRules, backgroundColor } = layer;
      Object.assign(this._tiles, { paintRules, labelRules, backgroundColor });
      this._tiles.clearLayout();
      this._tiles.rerenderTiles();
    }
  },

  /** Where the file has no tile, as it is far from the projects, enlarge one of a lower zoom. */
  _fillGaps(view) {
    const { source } = view.tileCache;
    source.shouldCancelZooms = false; // tiles of several zooms are shown at once
    view.getDisplayTile = async (shown) => {
      const tile = { ...view.dataTileForDisplayTile(shown), z: shown.z, data: new Map() };
      try {
        while (!(tile.data = await view.tileCache.get(tile.dataTile)).size && tile.dataTile.z) {
          const { x, y, z } = tile.dataTile;
          tile.dataTile = { x: x >> 1, y: y >> 1, z: z - 1 };
          tile.scale *= 2;
          tile.dim *= 2;
          tile.origin.x = tile.dataTile.x * tile.dim;
          tile.origin.y = tile.dataTile.y * tile.dim;
        }
        this.fire("tileload");
      } catch {
        source.p.cache.cache.clear(); // of directories: it keeps failures
        this.fire("tileerror");
      }
      return tile;
    };
  },
});

function loadScript() {
  return new Promise((resolve, reject) => {
    const element = document.createElement("script");
    Object.assign(element, { src: SCRIPT.href, onload: resolve, onerror: reject });
    document.head.append(element);
  });
}
