// The boundary of a project as a layer.

import { toast } from "../toasts.js";

/** Load a project's boundary. Gives null where it has none, or where that cannot be loaded. */
export async function loadBoundary(project) {
  try {
    const headers = { "X-Requested-With": "fetch" };
    const response = await fetch(`/projects/${project}/boundary`, { headers });
    if (!response.ok) throw new Error((await response.json()).error.message);
    const geometry = await response.json();
    if (!geometry) return null;
    const layer = window.L.geoJSON(geometry, { className: "boundary", smoothFactor: 1, interactive: false });
    return Object.assign(layer, { geometry });
  } catch (error) {
    toast(`The boundary of the project could not be loaded: ${error.message}`, true);
    return null;
  }
}
