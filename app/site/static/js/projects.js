// The page of projects.

import { area, number } from "./formats.js";
import { Legend } from "./map/legend.js";
import { joinListAndMap, overlay, results, showNote, textElement } from "./map/list_and_map.js";
import { createMap, mapButton, positionButton } from "./map/map.js";
import { placeButton } from "./map/places.js";
import { ProjectsLayer } from "./map/projects_layer.js";
import { whereItLies } from "./map/where.js";
import { showBox } from "./map/view.js";
import { showSelection } from "./selection.js";

const { L } = window;
const element = document.getElementById("map");

function start() {
  const map = createMap(element);
  const layer = new ProjectsLayer(map, results().dataset.map, tellWhatIsLeftOut, {
    hasNames: true,
    lookOf: (tags) => legend.lookOf(tags),
  });
  const legend = new Legend(map, document.getElementById("colors"), () => layer.tiles.repaint());
  const highlight = overlay(map, "highlighted");
  mapButton(map, { icon: "trees", label: "Show all projects", run: () => layer.showAll() });
  placeButton(map);
  positionButton(map);
  const show = (feature) => {
    highlight.clearLayers();
    if (feature) highlight.addData(feature);
  };
  joinListAndMap(map, layer, {
    row: "li[data-id]",
    show,
    showRow: (row) => show(layer.find(row?.dataset.id)),
    label: ({ properties }) => `${properties.name}, ${area(properties.area_hectares)}`,
    card,
    more: whereItLies,
    filtersChanged: () => layer.load(),
  });
  document.addEventListener("click", ({ target }) => target.closest("#show-selected") && showSelected(map));
}

function showSelected(map) {
  const rows = [...results().querySelectorAll("[data-box]:has(:checked)")];
  if (!rows.length) return toast("No selected project has a boundary.", true);
  const boxes = rows.map(({ dataset }) => JSON.parse(dataset.box));
  const [west, south, east, north] = [0, 1, 2, 3].map((side) => boxes.map((box) => box[side]));
  showBox(map, [Math.min(...west), Math.min(...south), Math.max(...east), Math.max(...north)]);
  element.scrollIntoView({ block: "nearest" });
}

function card({ id, properties }) {
  const link = textElement("a", properties.name);
  link.href = `/projects/${id}`;
  const box = document.createElement("div");
  box.append(link, textElement("p", `${area(properties.area_hectares)} · ${properties.status}`));
  return box;
}

function tellWhatIsLeftOut(collection, error) {
  const { numberMatched: all, numberReturned: shown } = collection ?? {};
  const isAll = error || all <= shown;
  showNote(
    error,
    isAll ? "" : `The map shows the ${number(shown)} largest of ${number(all)} projects here. Zoom in to see the others.`,
  );
}

document.addEventListener("htmx:after:swap", showSelection);
if (element && L) start();
