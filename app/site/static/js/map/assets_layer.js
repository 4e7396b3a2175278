// Assets as dots on a map, whose shape and color say their status.

import { color } from "./colors.js";
import { LoadedLayer } from "./loaded_layer.js";

const REACH = 9; // pixels around a dot in which the pointer is on it
const COLORS = { active: "active", inactive: "archived", maintenance: "draft", retired: "archived", other: "sky" };
const HOLLOW = ["inactive"];

/** The shapes of the dots, as the legend of the page has them. */
function legendShapes() {
  const rows = document.querySelectorAll("#legend [data-shape]");
  return Object.fromEntries(
    [...rows].map((row) => [row.dataset.shape, new Path2D(row.querySelector("path").getAttribute("d"))]),
  );
}

function drawAssets(context, features, { scale }) {
  const shapes = legendShapes();
  const surface = color("surface");
  const shades = Object.fromEntries(Object.entries(COLORS).map(([name, shade]) => [name, color(shade)]));
  context.lineJoin = "round";
  for (const feature of features) {
    const name = feature.tags.status in shapes ? feature.tags.status : "other";
    const isHollow = HOLLOW.includes(name);
    for (const [x, y] of feature.geometry) {
      context.save();
      context.translate(x * scale, y * scale);
      context.strokeStyle = surface;
      context.lineWidth = isHollow ? 4 : 2.5;
      context.stroke(shapes[name]);
      context.fillStyle = isHollow ? surface : shades[name];
      context.fill(shapes[name]);
      if (isHollow) {
        context.strokeStyle = shades[name];
        context.lineWidth = 1.8;
        context.stroke(shapes[name]);
      }
      context.restore();
    }
  }
}

export class AssetsLayer extends LoadedLayer {
  constructor(map, address, onLoad) {
    super(map, address, onLoad, drawAssets, { buffer: 160, hasNames: true });
  }

  /** The dot next to a place, or null. */
  at(latlng) {
    const { x, y } = this.map.latLngToContainerPoint(latlng);
    const { lat, lng } = latlng.wrap();
    const degrees = (360 / (256 * 2 ** this.map.getZoom())) * REACH;
    let [found, least] = [null, REACH];
    for (const feature of this.features) {
      const [longitude, latitude] = feature.geometry.coordinates;
      if (Math.abs(longitude - lng) > degrees || Math.abs(latitude - lat) > degrees) continue;
      const place = this.map.latLngToContainerPoint([latitude, longitude + latlng.lng - lng]);
      const distance = Math.hypot(place.x - x, place.y - y);
      if (distance < least) [found, least] = [feature, distance];
    }
    return found;
  }

  /** The other assets whose dots lie on that of one. */
  beside({ id, geometry }) {
    const [longitude, latitude] = geometry.coordinates;
    const degrees = (360 / (256 * 2 ** this.map.getZoom())) * REACH;
    const north = degrees * Math.cos((latitude * Math.PI) / 180);
    return this.features.filter(({ id: other, geometry: { coordinates: [x, y] } }) =>
      other !== id && Math.abs(x - longitude) < degrees && Math.abs(y - latitude) < north);
  }
}
