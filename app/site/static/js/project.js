// The page of one project: its boundary and assets on a map, and former boundaries compared.

import { assetMarker, spread } from "./map/asset_marker.js";
import { load } from "./load.js";
import { loadBoundary } from "./map/boundary.js";
import { createMap, mapButton, positionButton } from "./map/map.js";
import { placeButton } from "./map/places.js";
import { dropSaved } from "./editor/kept_work.js";
import { differenceLayer } from "./map/difference.js";
import { textElement } from "./map/list_and_map.js";
import { showNeighbors } from "./map/neighbors.js";
import { linkView, showLayers } from "./map/view.js";
import { toast } from "./toasts.js";

const { L } = window;
const element = document.getElementById("map");
const project = document.querySelector("[data-project]").dataset.project;

async function start() {
  const map = createMap(element);
  placeButton(map);
  positionButton(map);
  const shown = L.featureGroup().addTo(map);
  const assets = addAssets(map);
  const fit = () => showLayers(map, L.featureGroup([shown, assets]));
  mapButton(map, { icon: "trees", label: "Show the whole project", run: fit });
  (await loadBoundary(project, true))?.addTo(shown);
  fit();
  showNeighbors(map, project, false, true);
  for (const button of document.querySelectorAll("[data-show-boundary]")) {
    button.hidden = false;
    button.addEventListener("click", () => compare(map, shown, button));
  }
}

function addAssets(map) {
  const markers = [];
  const group = L.featureGroup().addTo(map);
  for (const { id, name, url, place } of JSON.parse(document.getElementById("asset-places").textContent)) {
    const link = Object.assign(textElement("a", name), { href: url });
    const row = document.querySelector(`[data-asset="${id}"]`);
    const marker = assetMarker(place, row.querySelector(".status-sign"), name).bindPopup(link);
    markers.push(marker.addTo(group));
    row.addEventListener("pointerenter", () => marker.setZIndexOffset(1000));
    row.addEventListener("pointerleave", () => marker.setZIndexOffset(0));
  }
  spread(map, markers);
  return group;
}

let drawn = null;

async function compare(map, shown, button) {
  const note = document.getElementById("difference-note");
  const { showBoundary, before } = button.dataset;
  button.disabled = true;
  try {
    const [after, former] = await Promise.all([
      load(`/projects/${project}/boundaries/${showBoundary}`),
      before ? load(`/projects/${project}/boundaries/${before}`) : null,
    ]);
    if (!after || (before && !former)) throw new Error("The shape of this boundary was not kept.");
    drawn?.remove();
    shown.remove();
    drawn = differenceLayer(before ? former : null, after).addTo(map);
    map.fitBounds(drawn.bounds, { padding: [24, 24], animate: false });
    const close = document.createElement("button");
    close.type = "button";
    close.className = "small plain";
    close.textContent = "Back to the present boundary";
    close.addEventListener("click", () => {
      drawn.remove();
      drawn = null;
      shown.addTo(map);
      note.hidden = true;
    });
    const row = button.closest("li");
    const words = document.createElement("span");
    const measured = [...row.querySelectorAll(".added, .removed")].map((each) => each.textContent).join(", ");
    words.textContent = `${row.querySelector("time").textContent}: ${measured || row.querySelector("strong").textContent}`;
    note.replaceChildren(words, close);
    note.hidden = false;
    element.scrollIntoView({ block: "nearest", behavior: "smooth" });
  } catch (error) {
    toast(error.message, true);
  } finally {
    button.disabled = false;
  }
}

const OVERLAP_TRIES = 4;
let tries = 1;

/** Too many others may be comparing at the moment; some seconds later it is this page's turn. */
function retryOverlaps() {
  const part = document.getElementById("overlaps");
  if (tries++ < OVERLAP_TRIES) setTimeout(() => window.htmx.trigger(part, "retry"), 2000 * tries);
  else part.textContent = "The overlaps could not be compared. Reload the page to try again.";
}

document.addEventListener("htmx:response:error", retryOverlaps);
document.addEventListener("htmx:error", retryOverlaps);
dropSaved();
linkView();
if (element && window.L) start();
