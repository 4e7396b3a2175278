// The shapes of projects on a map, loaded for what the map shows.

import { color } from "./colors.js";
import { LoadedLayer } from "./loaded_layer.js";
import { drawShapes } from "./shape_layer.js";

const DASHES = { draft: [5, 3] };

export class ProjectsLayer extends LoadedLayer {
  /** options: without (the id of a project that is not drawn), isMuted (all in gray), lookOf(tags)
   * (in place of the colors of statuses; null for these), and those of ShapeLayer. */
  constructor(map, address, onLoad, { without, isMuted, lookOf, ...options } = {}) {
    const look = ({ id, status, ...others }) => {
      if (id === without) return null;
      const dashes = DASHES[status];
      return { dashes, color: color(isMuted ? "archived" : status), ...lookOf?.({ status, ...others }) };
    };
    super(map, address, onLoad, (...given) => drawShapes(...given, look), options);
  }
}
