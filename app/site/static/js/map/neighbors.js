// The projects around, to see and, in the editor, to snap to.

import { load } from "../load.js";
import { textElement } from "./list_and_map.js";
import { boxOfView } from "./view.js";

const { L } = window;
const LEAST_ZOOM = 9; // further out, corners are too close to snap to
const MOST = 300; // shapes

/** Show the projects around in grey, but for one. `isExact`: with all positions, to snap to.
 * `isLinked`: the pointer names them, a click opens their page. */
export function showNeighbors(map, project, isExact = true, isLinked = false) {
  // They are not edited, but drawing snaps to them.
  const className = isLinked ? "neighbor linked" : "neighbor";
  const options = { className, pmIgnore: true, snapIgnore: false, interactive: isLinked };
  const layer = L.geoJSON(null, { ...options, style: options }).addTo(map);
  if (isLinked) {
    layer.bindTooltip((each) => textElement("span", each.feature.properties.name), { sticky: true });
    layer.on("click", (event) => location.assign(`/projects/${event.layer.feature.id}`));
  }
  let loaded = "";
  const show = async () => {
    if (isExact && map.getZoom() < LEAST_ZOOM) return;
    const bbox = boxOfView(map, 0.1);
    if (bbox === loaded) return;
    loaded = bbox;
    const zoom = isExact ? 22 : Math.round(map.getZoom());
    const answer = await load(`/projects/map?bbox=${bbox}&zoom=${zoom}&status=any`).catch(() => null);
    if (!answer || loaded !== bbox) return;
    layer.clearLayers();
    for (const feature of answer.features.slice(0, MOST)) {
      const isShown = feature.id !== project && feature.properties.status !== "archived";
      if (isShown && feature.geometry.type !== "Point") layer.addData(feature);
    }
    layer.eachLayer((each) => each.bringToBack());
  };
  map.on("moveend", show);
  show();
}
