// The page of plots for the EUDR: lists to select from, and maps of what has to be drawn anew.

import { createMap, mapButton } from "./map/map.js";
import { showLayers } from "./map/view.js";

const { L } = window;
const STYLE = { weight: 2, fillOpacity: 0.2, interactive: false };
const CLOSE = 19; // the zoom at which corners less than a meter apart can be told

/** The map of one group, with the plots that its list shows. */
function drawMap(element) {
  const map = createMap(element);
  map.scrollWheelZoom.disable();
  const all = L.featureGroup().addTo(map);
  const byId = new Map();
  for (const { id, outlines, holes, fault } of JSON.parse(element.dataset.shapes)) {
    const layers = L.featureGroup().addTo(all);
    for (const ring of outlines) drawRing(ring, "shape rejected").addTo(layers);
    for (const ring of holes) drawRing(ring, "shape fault-line").addTo(layers);
    if (fault) L.circleMarker([fault[1], fault[0]], { ...STYLE, radius: 7, className: "shape fault" }).addTo(layers);
    byId.set(id, { layers, fault });
  }
  const group = element.closest(".eudr-group");
  const show = (id) => {
    for (const row of group.querySelectorAll("li[data-id]")) row.classList.toggle("chosen", row.dataset.id === id);
    const { layers, fault } = byId.get(id);
    if (fault) map.setView([fault[1], fault[0]], CLOSE, { animate: false });
    else showLayers(map, layers);
  };
  for (const button of group.querySelectorAll("button[data-show]")) {
    button.hidden = false;
    button.addEventListener("click", () => {
      show(button.dataset.show);
      if (matchMedia("(max-width: 60rem)").matches) element.scrollIntoView({ block: "nearest" });
    });
  }
  mapButton(map, { icon: "layers", label: "Show all of these plots", run: () => showLayers(map, all) });
  show(byId.keys().next().value);
}

function drawRing(ring, className) {
  return L.polygon(ring.map(([longitude, latitude]) => [latitude, longitude]), { ...STYLE, className });
}

for (const button of document.querySelectorAll(".eudr-group [data-select]")) {
  button.addEventListener("click", () => {
    const boxes = [...button.closest(".eudr-group").querySelectorAll("[name=ids]")];
    const isEach = boxes.every((box) => box.checked);
    for (const box of boxes) box.checked = !isEach;
  });
}
if (L) for (const element of document.querySelectorAll(".eudr-map")) drawMap(element);
