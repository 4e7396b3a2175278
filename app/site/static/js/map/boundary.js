// The boundary of a project as a layer.

import { load } from "../load.js";
import { toast } from "../toasts.js";

/** Load a project's boundary. Gives null where it has none, or where that cannot be loaded.
 * `interactive`: what lies under it is not pointed at. */
export async function loadBoundary(project, interactive = false) {
  try {
    const geometry = await load(`/projects/${project}/boundary`);
    if (!geometry) return null;
    const layer = window.L.geoJSON(geometry, { className: "boundary", smoothFactor: 1, interactive });
    return Object.assign(layer, { geometry });
  } catch (error) {
    toast(`The boundary of the project could not be loaded: ${error.message}`, true);
    return null;
  }
}
