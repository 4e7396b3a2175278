// The page of all assets.

import { number } from "./formats.js";
import { AssetsLayer } from "./map/assets_layer.js";
import { joinListAndMap, overlay, results, showNote, textElement } from "./map/list_and_map.js";
import { createMap, mapButton, positionButton } from "./map/map.js";
import { placeButton } from "./map/places.js";
import { ProjectsLayer } from "./map/projects_layer.js";
import { showSelection } from "./selection.js";

const { L } = window;
const element = document.getElementById("map");
const OTHERS = 5; // assets at one place that its card names, besides the first
const words = (text) => text.replaceAll("_", " ");

function start() {
  const map = createMap(element);
  new ProjectsLayer(map, "/projects/map?status=any", () => {}, { isMuted: true }); // below the assets
  const layer = new AssetsLayer(map, results().dataset.map, tellWhatIsLeftOut);
  const ring = overlay(map, "highlighted");
  mapButton(map, { icon: "map-pin", label: "Show all assets", run: () => layer.showAll() });
  placeButton(map);
  positionButton(map);
  const showPlace = (coordinates) => {
    ring.clearLayers();
    if (coordinates) ring.addData({ type: "Point", coordinates });
  };
  joinListAndMap(map, layer, {
    row: "tr[data-id]",
    show: (feature) => showPlace(feature?.geometry.coordinates),
    showRow: (row) => showPlace(row?.dataset.place?.split(",").map(Number)),
    label: (asset) => `${asset.properties.name} ${moreHere(layer.beside(asset).length)}`,
    tip: { direction: "top", offset: [0, -8] },
    card: (asset) => card(asset, layer.beside(asset)),
    filtersChanged: () => {
      if (document.getElementById("in-view").checked) layer.load();
      else layer.showAll();
    },
  });
}

const moreHere = (count) => (count > 0 ? `and ${number(count)} more here` : "");

function card({ id, properties: { name, type, status, project_id: project } }, beside) {
  const link = linkTo(name, `/assets/${project}/${id}`);
  const others = beside.slice(0, OTHERS).map(({ id: other, properties }) => {
    const line = document.createElement("p");
    line.append(linkTo(properties.name, `/assets/${properties.project_id}/${other}`));
    return line;
  });
  const box = document.createElement("div");
  box.append(link, textElement("p", `${words(type)} · ${words(status)}`), linkTo("Open its project", `/projects/${project}`));
  if (others.length) box.append(textElement("p", "Also here:"), ...others, moreHere(beside.length - OTHERS));
  return box;
}

function linkTo(text, address) {
  const link = textElement("a", text);
  link.href = address;
  return link;
}

function tellWhatIsLeftOut(collection, error) {
  const isAll = error || collection.isAll;
  showNote(
    error,
    isAll ? "" : `The map shows ${number(collection.features.length)} of the assets here. Zoom in to see all.`,
  );
}

document.addEventListener("change", ({ target }) => {
  if (target.id !== "select-all") return;
  for (const box of results().querySelectorAll("input[name=ids]")) box.checked = target.checked;
  showSelection();
});
document.addEventListener("htmx:after:swap", showSelection);
if (element && L) start();
