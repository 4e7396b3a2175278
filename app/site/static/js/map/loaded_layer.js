// Features on a map, loaded for what the map shows and drawn on tiles.

import { boxOfGeometry } from "./shapes.js";
import { ShapeTiles } from "./shape_tiles.js";
import { boxOfView, showBox } from "./view.js";

const MARGIN = 0.25; // of the map's width and height, loaded around what it shows

export class LoadedLayer {
  /** address: of the GeoJSON, with the filters; onLoad(collection, error): whenever it has come;
   * draw: as ShapeTiles takes it. */
  constructor(map, address, onLoad, draw, options = {}) {
    this.map = map;
    this.address = address;
    this.onLoad = onLoad;
    this.features = [];
    this.tiles = new ShapeTiles(draw, { zIndex: 2, ...options }).addTo(map);
    this.request = null;
    map.on("moveend", () => this.load());
  }

  /** Load what the map shows. */
  async load() {
    const bbox = boxOfView(this.map, MARGIN);
    await this._fetch({ zoom: Math.round(this.map.getZoom()), ...(bbox && { bbox }) });
  }

  /** Load all, and show them: the map moves, which loads them in their size. */
  async showAll() {
    const collection = await this._fetch({ zoom: 3 });
    if (collection?.bbox) showBox(this.map, collection.bbox);
  }

  find(id) {
    return this.features.find((feature) => feature.id === id) ?? null;
  }

  async _fetch(query) {
    this.request?.abort();
    this.request = new AbortController();
    const address = new URL(this.address, location.href);
    for (const [name, value] of Object.entries(query)) address.searchParams.set(name, value);
    try {
      const response = await fetch(address, {
        signal: this.request.signal,
        headers: { "X-Requested-With": "fetch" },
      });
      if (!response.ok) throw new Error((await response.json()).error.message);
      const collection = await response.json();
      for (const feature of collection.features) feature.box = boxOfGeometry(feature.geometry);
      this.features = collection.features;
      this.tiles.setData(collection);
      this.tiles.whenPainted(() => performance.mark("features-drawn")); // for bench/pages.py
      this.onLoad(collection, null);
      this.map.fire("featuresload");
      return collection;
    } catch (error) {
      if (error.name === "AbortError") return null;
      this.onLoad(null, error);
      return null;
    }
  }
}
