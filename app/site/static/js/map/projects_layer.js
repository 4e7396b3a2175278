// The shapes of projects on a map, loaded for what the map shows.

import { color } from "./colors.js";
import { LoadedLayer } from "./loaded_layer.js";
import { covers } from "./shapes.js";
import { outline } from "./shape_tiles.js";

const DOT = 2.5; // pixels, the radius of what is too small for a shape

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

export class ProjectsLayer extends LoadedLayer {
  /** options: without (the id of a project that is not drawn), isMuted (all in gray). */
  constructor(map, address, onLoad, options = {}) {
    super(map, address, onLoad, (...given) => drawProjects(...given, options));
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
}
