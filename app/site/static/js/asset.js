// The page of one asset: where it is, and the boundary of its project.

import { assetMarker } from "./map/asset_marker.js";
import { createMap, mapButton, positionButton } from "./map/map.js";
import { loadBoundary } from "./map/boundary.js";
import { showLayers } from "./map/view.js";

const { L } = window;
const element = document.getElementById("map");

async function start() {
  const { place, project, name } = JSON.parse(document.getElementById("asset-place").textContent);
  const here = [place[1], place[0]];
  const map = createMap(element);
  map.setView(here, 14, { animate: false });
  positionButton(map);
  const sign = document.querySelector(".asset-status .status-sign");
  const marker = assetMarker(place, sign, name, { keyboard: false }).addTo(map);
  const shown = L.featureGroup([marker]);
  const fit = () => showLayers(map, shown);
  mapButton(map, { icon: "trees", label: "Show the whole project", run: fit });
  mapButton(map, { icon: "map-pin", label: "Show the asset", run: () => map.setView(here, 16, { animate: false }) });
  const boundary = await loadBoundary(project);
  if (!boundary) return;
  boundary.addTo(map).addTo(shown);
  fit();
}

if (element && L) start();
