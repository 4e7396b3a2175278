// Features on a map, loaded for what the map shows.

import { load } from "../load.js";
import { ShapeLayer } from "./shape_layer.js";
import { boxOfView, showBox } from "./view.js";

const MARGIN = 0.25; // of the map's width and height, loaded around what it shows

export class LoadedLayer extends ShapeLayer {
  /** address: of the GeoJSON, with the filters; onLoad(collection, error): whenever it has come;
   * draw and options: as ShapeLayer takes them. */
  constructor(map, address, onLoad, draw, options) {
    super(map, draw, options);
    this.address = address;
    this.onLoad = onLoad;
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

  async _fetch(query) {
    this.request?.abort();
    this.request = new AbortController();
    const address = new URL(this.address, location.href);
    for (const [name, value] of Object.entries(query)) address.searchParams.set(name, value);
    try {
      const collection = await load(address, this.request.signal);
      this.show(collection);
      this.tiles.whenPainted(() => performance.mark("features-drawn")); // for bench/pages.py
      this.onLoad(collection, null);
      return collection;
    } catch (error) {
      if (error.name !== "AbortError") this.onLoad(null, error);
      return null;
    }
  }
}
