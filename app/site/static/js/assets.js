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
    label: ({ properties }) => properties.name,
    tip: { direction: "top", offset: [0, -8] },
    card,
    filtersChanged: () => {
      if (document.getElementById("in-view").checked) layer.load();
      else layer.showAll();
    },
  });
}

function card({ id, properties: { name, type, status, project_id: project } }) {
  const link = textElement("a", name);
  link.href = `/assets/${project}/${id}`;
  const forest = textElement("a", "Open its project");
  forest.href = `/projects/${project}`;
  const box = document.createElement("div");
  box.append(link, textElement("p", `${words(type)} · ${words(status)}`), forest);
  return box;
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
