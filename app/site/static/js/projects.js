// The page of projects: the map follows the list, and the list the map.

import { createMap, mapButton, positionButton } from "./map/map.js";
import { ProjectsLayer } from "./map/projects_layer.js";
import { followMap, rememberView, restoreView } from "./map/view.js";
import { showSelection } from "./selection.js";
import { toast } from "./toasts.js";

const { L } = window;
const element = document.getElementById("map");
const number = new Intl.NumberFormat(undefined);
const hectares = new Intl.NumberFormat(undefined, { maximumFractionDigits: 2 });

function start() {
  const map = createMap(element);
  const layer = new ProjectsLayer(map, results().dataset.map, showNote);
  const highlight = L.geoJSON(null, { interactive: false, className: "highlighted" }).addTo(map);
  const tip = L.tooltip({ sticky: true });

  mapButton(map, { icon: "trees", label: "Show all projects", run: () => layer.showAll() });
  positionButton(map, (message) => toast(message, true));

  const show = (feature) => {
    highlight.clearLayers();
    if (feature && feature.geometry.type !== "Point") highlight.addData(feature);
    for (const row of rows()) row.classList.toggle("hovered", row.dataset.id === feature?.id);
  };
  map.on("mousemove", ({ latlng }) => {
    const feature = layer.at(latlng);
    element.classList.toggle("over-shape", Boolean(feature));
    show(feature);
    if (feature) tip.setContent(text(summary(feature))).setLatLng(latlng).openOn(map);
    else map.closeTooltip(tip);
  });
  map.on("mouseout", () => show(null));
  map.on("click", ({ latlng }) => {
    const feature = layer.at(latlng);
    if (!feature) return;
    map.closeTooltip(tip);
    L.popup().setLatLng(latlng).setContent(card(feature)).openOn(map);
    rows().find((row) => row.dataset.id === feature.id)?.scrollIntoView({ block: "nearest" });
  });
  map.on("moveend", () => {
    rememberView(map);
    followMap(map);
  });

  const list = document.querySelector(".list-side");
  list.addEventListener("pointerover", ({ target }) => show(layer.find(target.closest("li[data-id]")?.dataset.id)));
  list.addEventListener("focusin", ({ target }) => show(layer.find(target.closest("li[data-id]")?.dataset.id)));
  document.addEventListener("htmx:after:swap", () => {
    const { map: address } = results().dataset;
    rememberView(map);
    showSelection();
    if (address === layer.address) return;
    layer.address = address;
    layer.load();
  });

  const inView = document.getElementById("in-view");
  inView.closest("label").hidden = false;
  inView.addEventListener("change", (event) => {
    event.stopPropagation(); // the form would load the list a second time
    followMap(map);
  });
  restoreView(map) ? layer.load() : layer.showAll();
}

const results = () => document.getElementById("results");
const rows = () => [...results().querySelectorAll("li[data-id]")];
const summary = (feature) =>
  `${feature.properties.name}, ${hectares.format(feature.properties.area_hectares)} ha`;

function text(content) {
  const box = document.createElement("span");
  box.dir = "auto";
  box.textContent = content;
  return box;
}

function card(feature) {
  const box = document.createElement("div");
  const link = document.createElement("a");
  link.href = `/projects/${feature.id}`;
  link.dir = "auto";
  link.textContent = feature.properties.name;
  const area = document.createElement("p");
  const { status, area_hectares: area_ } = feature.properties;
  area.textContent = `${hectares.format(area_)} ha · ${status}`;
  box.append(link, area);
  return box;
}

function showNote(collection, error) {
  const note = document.getElementById("map-note");
  if (error) {
    note.textContent = `The map could not be loaded: ${error.message}`;
  } else {
    const { numberMatched: all, numberReturned: shown } = collection;
    note.textContent = `The map shows the ${number.format(shown)} largest of ${number.format(all)} projects here. Zoom in to see the others.`;
    note.hidden = all <= shown;
    return;
  }
  note.hidden = false;
}

document.addEventListener("htmx:response:error", () => toast("The list could not be loaded. Reload the page and try again.", true));
showSelection();
if (element && window.L) start();
