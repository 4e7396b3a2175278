// The shapes of projects on a map, loaded for what the map shows.

import { color, onThemeChange } from "./colors.js";
import { outline, ShapeTiles } from "./shape_tiles.js";

const DOT = 2.5; // pixels, the radius of what is too small for a shape
const MARGIN = 0.25; // of the map's width and height, loaded around what it shows

function drawProjects(context, features, { scale }, { without, isMuted }) {
  const muted = color("archived");
  const colors = isMuted
    ? { active: muted, draft: muted, archived: muted }
    : { active: color("active"), draft: color("draft"), archived: muted };
  for (const feature of features) {
    if (feature.tags.id === without) continue;
    const shade = colors[feature.tags.status];
    context.fillStyle = context.strokeStyle = shade;
    if (feature.type === 1) {
      for (const [x, y] of feature.geometry) {
        context.beginPath();
        context.arc(x * scale, y * scale, DOT, 0, 2 * Math.PI);
        context.fill();
      }
      continue;
    }
    const path = outline(feature, scale);
    context.globalAlpha = 0.22;
    context.fill(path, "evenodd");
    context.globalAlpha = 1;
    context.lineWidth = 1.4;
    context.setLineDash(feature.tags.status === "draft" ? [5, 3] : []);
    context.stroke(path);
  }
  context.setLineDash([]);
}

export class ProjectsLayer {
  /**
   * address: of the shapes, with the filters; onLoad(collection, error): whenever they have come;
   * options: without (the id of a project that is not drawn), isMuted (all in gray).
   */
  constructor(map, address, onLoad, options = {}) {
    this.map = map;
    this.address = address;
    this.onLoad = onLoad;
    this.features = [];
    this.tiles = new ShapeTiles((...given) => drawProjects(...given, options), { zIndex: 2 }).addTo(map);
    this.request = null;
    map.on("moveend", () => this.load());
    onThemeChange(() => this.tiles.repaint());
  }

  /** Load what the map shows. */
  async load() {
    await this._fetch({ zoom: Math.round(this.map.getZoom()), ...this._box() });
  }

  /** Load all, and show them: the map moves, which loads them in their size. */
  async showAll() {
    const collection = await this._fetch({ zoom: 3 });
    const box = collection && boxOf(collection.features);
    if (box) this.map.fitBounds(box, { padding: [24, 24], maxZoom: 14, animate: false });
  }

  /** The smallest shape at a place, or the dot there, or null. */
  at(latlng) {
    const { lat, lng } = latlng.wrap();
    const reach = (360 / (256 * 2 ** this.map.getZoom())) * (DOT + 3);
    let found = null;
    for (const feature of this.features) {
      const [west, south, east, north] = feature.box;
      if (lng < west - reach || lng > east + reach || lat < south - reach || lat > north + reach) continue;
      if (covers(feature.geometry, lng, lat, reach)) found = feature; // the largest come first
    }
    return found;
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
      this.tiles.whenPainted(() => performance.mark("projects-drawn")); // for bench/pages.py
      this.onLoad(collection, null);
      return collection;
    } catch (error) {
      if (error.name === "AbortError") return null;
      this.onLoad(null, error);
      return null;
    }
  }

  _box() {
    const bounds = this.map.getBounds().pad(MARGIN);
    const [west, east] = [bounds.getWest(), bounds.getEast()];
    if (east - west >= 360) return {};
    const wrap = (degrees) => ((((degrees + 180) % 360) + 360) % 360) - 180;
    const latitude = (degrees) => Math.max(-90, Math.min(90, degrees));
    const sides = [wrap(west), latitude(bounds.getSouth()), wrap(east), latitude(bounds.getNorth())];
    return { bbox: sides.map((side) => side.toFixed(4)).join(",") };
  }
}

function covers(geometry, lng, lat, reach) {
  if (geometry.type === "Point") {
    const [x, y] = geometry.coordinates;
    return Math.abs(x - lng) <= reach && Math.abs(y - lat) <= reach;
  }
  const parts = geometry.type === "Polygon" ? [geometry.coordinates] : geometry.coordinates;
  return parts.some((rings) => rings.reduce((inside, ring) => inside !== isInRing(ring, lng, lat), false));
}

function isInRing(ring, lng, lat) {
  let inside = false;
  for (let i = 0, j = ring.length - 1; i < ring.length; j = i++) {
    const [x1, y1] = ring[i];
    const [x2, y2] = ring[j];
    if (y1 > lat !== y2 > lat && lng < ((x2 - x1) * (lat - y1)) / (y2 - y1) + x1) inside = !inside;
  }
  return inside;
}

function boxOfGeometry(geometry) {
  const box = [Infinity, Infinity, -Infinity, -Infinity];
  const visit = (coordinates) => {
    if (typeof coordinates[0] === "number") {
      box[0] = Math.min(box[0], coordinates[0]);
      box[1] = Math.min(box[1], coordinates[1]);
      box[2] = Math.max(box[2], coordinates[0]);
      box[3] = Math.max(box[3], coordinates[1]);
    } else coordinates.forEach(visit);
  };
  visit(geometry.coordinates);
  return box;
}

function boxOf(features) {
  if (!features.length) return null;
  const sides = [0, 1, 2, 3].map((side) => features.map((feature) => feature.box[side]));
  const least = (numbers) => numbers.reduce((one, other) => Math.min(one, other));
  const most = (numbers) => numbers.reduce((one, other) => Math.max(one, other));
  return [[least(sides[1]), least(sides[0])], [most(sides[3]), most(sides[2])]];
}
