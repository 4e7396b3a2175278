// The page of all assets: the map follows the list, and the list the map.

import { AssetsLayer } from "./map/assets_layer.js";
import { createMap, mapButton, positionButton } from "./map/map.js";
import { followMap, rememberView, restoreView } from "./map/view.js";
import { showSelection } from "./selection.js";
import { toast } from "./toasts.js";

const { L } = window;
const element = document.getElementById("map");
const number = new Intl.NumberFormat(undefined);
const results = () => document.getElementById("results");
const rows = () => [...results().querySelectorAll("tr[data-id]")];
const words = (text) => text.replaceAll("_", " ");

function start() {
  document.getElementById("legend").hidden = false;
  const map = createMap(element);
  const layer = new AssetsLayer(map, results().dataset.map, showNote);
  const ring = L.circleMarker([0, 0], { radius: 11, interactive: false, className: "highlighted" });
  const tip = L.tooltip({ sticky: true, direction: "top", offset: [0, -8] });
  mapButton(map, { icon: "map-pin", label: "Show all assets", run: () => layer.showAll() });
  positionButton(map, (message) => toast(message, true));

  const showPlace = (place) => (place ? ring.setLatLng(place).addTo(map) : ring.remove());
  const showFeature = (feature) => {
    showPlace(feature && [feature.geometry.coordinates[1], feature.geometry.coordinates[0]]);
    for (const row of rows()) row.classList.toggle("hovered", row.dataset.id === feature?.id);
  };
  map.on("mousemove", ({ latlng }) => {
    const feature = layer.at(latlng);
    element.classList.toggle("over-shape", Boolean(feature));
    showFeature(feature);
    if (feature) tip.setContent(text("span", feature.properties.name)).setLatLng(latlng).openOn(map);
    else map.closeTooltip(tip);
  });
  map.on("mouseout", () => showFeature(null));
  map.on("click", ({ latlng }) => {
    const feature = layer.at(latlng);
    if (!feature) return;
    map.closeTooltip(tip);
    const [longitude, latitude] = feature.geometry.coordinates;
    const place = [latitude, longitude + latlng.lng - latlng.wrap().lng];
    L.popup().setLatLng(place).setContent(card(feature)).openOn(map);
    rows().find((row) => row.dataset.id === feature.id)?.scrollIntoView({ block: "nearest" });
  });
  map.on("moveend", () => {
    rememberView(map);
    followMap(map);
  });

  const list = document.querySelector(".list-side");
  const showRow = ({ target }) => {
    const place = target.closest("tr[data-id]")?.dataset.place;
    showPlace(place && place.split(",").map(Number).reverse());
  };
  list.addEventListener("pointerover", showRow);
  list.addEventListener("pointerleave", () => showPlace(null));
  list.addEventListener("focusin", showRow);
  document.addEventListener("htmx:after:swap", () => {
    const { map: address } = results().dataset;
    rememberView(map);
    if (address === layer.address) return;
    layer.address = address;
    if (document.getElementById("in-view").checked) layer.load();
    else layer.showAll();
  });

  const inView = document.getElementById("in-view");
  inView.closest("label").hidden = false;
  inView.addEventListener("change", (event) => {
    event.stopPropagation(); // the form would load the list a second time
    followMap(map);
  });
  if (restoreView(map)) layer.load();
  else layer.showAll();
}

function text(tag, content) {
  const box = document.createElement(tag);
  box.dir = "auto";
  box.textContent = content;
  return box;
}

function card(feature) {
  const { name, type, status, project_id: project } = feature.properties;
  const link = text("a", name);
  link.href = `/assets/${project}/${feature.id}`;
  const forest = text("a", "Project");
  forest.href = `/projects/${project}`;
  const row = document.createElement("p");
  row.append(`${words(type)} · ${words(status)} · `, forest);
  const box = document.createElement("div");
  box.append(link, row);
  return box;
}

function showNote(collection, error) {
  const note = document.getElementById("map-note");
  note.hidden = Boolean(collection?.isAll);
  note.textContent = error
    ? `The map could not be loaded: ${error.message}`
    : `The map shows ${number.format(collection.features.length)} of the assets here. Zoom in to see all.`;
}

function showSelectAll() {
  const box = document.getElementById("select-all");
  if (box) box.hidden = false;
}

document.addEventListener("change", ({ target }) => {
  if (target.id !== "select-all") return;
  for (const box of results().querySelectorAll("input[name=ids]")) box.checked = target.checked;
  showSelection();
});
document.addEventListener("htmx:after:swap", () => {
  showSelection();
  showSelectAll();
});
document.addEventListener("htmx:response:error", () => toast("The list could not be loaded. Reload the page and try again.", true));
showSelectAll();
if (element && L) start();
