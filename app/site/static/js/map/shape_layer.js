// Features on a map, the largest first: drawn on tiles, found by place, with names where there is
// room.

import { showShapeNames } from "./shape_names.js";
import { boxOfGeometry, covers } from "./shapes.js";
import { outline, ShapeTiles } from "./shape_tiles.js";

const DOT = 2.5; // pixels, the radius of what is too small for a shape

/** Draw shapes and dots. lookOf(tags): {color, dashes, fill}, or null for what is not drawn. */
export function drawShapes(context, features, { scale }, lookOf) {
  for (const feature of features) {
    const look = lookOf(feature.tags);
    if (!look) continue;
    context.fillStyle = context.strokeStyle = look.color;
    context.globalAlpha = look.opacity ?? 1;
    const points = feature.type === 1 ? feature.geometry : isTiny(feature.geometry, scale) && [feature.geometry[0][0]];
    if (points) {
      for (const [x, y] of points) {
        context.beginPath();
        context.arc(x * scale, y * scale, DOT, 0, 2 * Math.PI);
        context.fill();
      }
      continue;
    }
    const path = outline(feature, scale);
    context.globalAlpha *= look.fill ?? 0.22;
    context.fill(path, "evenodd");
    context.globalAlpha = look.opacity ?? 1;
    context.lineWidth = 1.4;
    context.setLineDash(look.dashes ?? []);
    context.stroke(path);
  }
  context.globalAlpha = 1;
  context.setLineDash([]);
}

/** True if rings or lines could hardly be seen. */
function isTiny(lines, scale) {
  const reach = DOT / 2 / scale;
  const [x, y] = lines[0][0];
  return lines.every((line) => line.every((place) => Math.abs(place[0] - x) < reach && Math.abs(place[1] - y) < reach));
}

export class ShapeLayer {
  /** draw: as ShapeTiles takes it; options: hasNames, and those of ShapeTiles. */
  constructor(map, draw, { hasNames, ...options } = {}) {
    this.map = map;
    this.features = [];
    this.tiles = new ShapeTiles(draw, { zIndex: 2, className: "shape-tiles", ...options }).addTo(map);
    if (hasNames) showShapeNames(map, this);
  }

  /** Show the features of a collection from now on. */
  show(collection) {
    for (const feature of collection.features) feature.box ??= boxOfGeometry(feature.geometry);
    this.features = collection.features;
    this.tiles.setData(collection);
    this.map.fire("featuresload");
  }

  find(id) {
    return this.features.find((feature) => feature.id === id) ?? null;
  }

  /** The smallest shape at a place, or the dot or what is as small, or null. */
  at(latlng) {
    const { lat, lng } = latlng.wrap();
    const reach = (360 / (256 * 2 ** this.map.getZoom())) * (DOT + 3);
    let found = null;
    for (const feature of this.features) {
      const [west, south, east, north] = feature.box;
      if (lng < west - reach || lng > east + reach || lat < south - reach || lat > north + reach) continue;
      const isSmall = Math.max(east - west, north - south) < 2 * reach;
      if (isSmall || covers(feature.geometry, lng, lat, reach)) found = feature; // the largest come first
    }
    return found;
  }
}
