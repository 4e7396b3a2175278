// Two boundaries drawn over each other: what the new one adds and removes. The canvas cuts one out
// of the other, so that boundaries of any size need no geometry to be computed.

import { color } from "./colors.js";
import { outline, ShapeTiles } from "./shape_tiles.js";

function only(size, ratio, kept, cut, shade) {
  const canvas = new OffscreenCanvas(size * ratio, size * ratio);
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  context.fillStyle = shade;
  for (const path of kept) context.fill(path, "evenodd");
  context.globalCompositeOperation = "destination-out";
  for (const path of cut) context.fill(path, "evenodd");
  return canvas;
}

function drawDifference(context, features, { scale, size }) {
  const ratio = context.canvas.width / size;
  const paths = (role) =>
    features.filter(({ tags }) => tags.role === role).map((feature) => outline(feature, scale));
  const [before, after] = [paths("before"), paths("after")];
  context.globalAlpha = 0.45;
  for (const [kept, cut, shade] of [[after, before, "added"], [before, after, "removed"]]) {
    context.drawImage(only(size, ratio, kept, cut, color(shade)), 0, 0, size, size);
  }
  context.globalAlpha = 1;
  context.lineWidth = 1.5;
  context.strokeStyle = color("removed");
  context.setLineDash([5, 4]);
  for (const path of before) context.stroke(path);
  context.setLineDash([]);
  context.strokeStyle = color("added");
  for (const path of after) context.stroke(path);
}

/** A layer with the difference of two GeoJSON geometries, of which either may be null, and the
 * bounds of both. */
export function differenceLayer(before, after) {
  const layer = new ShapeTiles(drawDifference, { zIndex: 3 });
  const feature = (geometry, role) => ({ type: "Feature", properties: { role }, geometry });
  const features = [];
  if (before) features.push(feature(before, "before"));
  if (after) features.push(feature(after, "after"));
  const collection = { type: "FeatureCollection", features };
  layer.setData(collection);
  return Object.assign(layer, { bounds: window.L.geoJSON(collection).getBounds() });
}
