// A map beside a list: each shows what the pointer is on in the other, the map shows what the
// filters of the list leave, and the list follows the map if the reader wants that.

import { toast } from "../toasts.js";
import { followMap, placesOn, rememberView, restoreView } from "./view.js";

const { L } = window;

export const results = () => document.getElementById("results");

/** An element with a text of the users, in its own direction. */
export function textElement(tag, content) {
  const element = document.createElement(tag);
  element.dir = "auto";
  element.textContent = content;
  return element;
}

/** Features drawn over a map, such as those that are selected; points as rings. */
export function overlay(map, className) {
  const options = { className, interactive: false };
  const pointToLayer = (_, place) => L.circleMarker(place, { ...options, radius: 11 });
  return L.geoJSON(null, { ...options, coordsToLatLng: placesOn(map), pointToLayer }).addTo(map);
}

/**
 * Join the map and the list of a page. What is selected in the list is marked on the map.
 *
 * row: the selector of a row of the list, which has the id of its feature as data-id.
 * show(feature): mark a feature on the map, or none; showRow(row): likewise that of a row, or none.
 * label(feature): what the tooltip says; tip: its options. card(feature): the element that a click
 * opens. more(feature): resolves with what both say besides, and the tooltip for a row as well.
 * filtersChanged(): load the features of the new filters.
 */
export function joinListAndMap(map, layer, { row, show, showRow, label, tip: options, card, more, filtersChanged }) {
  const tip = L.tooltip({ sticky: true, opacity: 1, ...options });
  const selected = overlay(map, "selected-shape");
  const showSelected = () => {
    selected.clearLayers();
    for (const { value } of results().querySelectorAll("input[name=ids]:checked")) {
      const feature = layer.find(value);
      if (feature) selected.addData(feature);
    }
  };
  map.on("featuresload", showSelected);
  document.addEventListener("selection", showSelected);
  const rows = () => [...results().querySelectorAll(row)];
  const mark = (feature) => {
    show(feature);
    for (const each of rows()) each.classList.toggle("hovered", each.dataset.id === feature?.id);
  };
  const open = async (box, feature, content, latlng) => {
    box.setContent(content).setLatLng(latlng).openOn(map);
    if (!more) return;
    const line = content.appendChild(textElement("p", ""));
    line.textContent = await more(feature);
    box.update();
  };
  const point = (feature, latlng) => {
    if (feature && map.getBounds().contains(latlng)) open(tip, feature, textElement("div", label(feature)), latlng);
    else map.closeTooltip(tip);
  };
  map.on("mousemove", ({ latlng }) => {
    const feature = layer.at(latlng);
    map.getContainer().classList.toggle("over-shape", Boolean(feature));
    mark(feature);
    point(feature, latlng);
  });
  map.on("mouseout", () => {
    mark(null);
    map.closeTooltip(tip);
  });
  map.on("click", ({ latlng }) => {
    const feature = layer.at(latlng);
    if (!feature) return;
    map.closeTooltip(tip);
    open(L.popup({ maxWidth: 260, autoPanPaddingTopLeft: [56, 12] }), feature, card(feature), latlng);
    rows().find((each) => each.dataset.id === feature.id)?.scrollIntoView({ block: "nearest" });
  });
  map.on("moveend", () => {
    rememberView(map);
    followMap(map);
  });

  const list = document.querySelector(".list-side");
  for (const event of ["pointerover", "focusin"]) {
    list.addEventListener(event, ({ target }) => {
      const shown = target.closest(row);
      const feature = more && layer.find(shown?.dataset.id);
      showRow(shown);
      point(feature, feature && L.geoJSON(feature, { coordsToLatLng: placesOn(map) }).getBounds().getCenter());
    });
  }
  list.addEventListener("pointerleave", () => {
    showRow(null);
    map.closeTooltip(tip);
  });
  document.addEventListener("htmx:after:swap", () => {
    const { map: address } = results().dataset;
    rememberView(map);
    if (address === layer.address) return;
    layer.address = address;
    filtersChanged();
  });
  document.addEventListener("htmx:response:error", () =>
    toast("The list could not be loaded. Reload the page and try again.", true),
  );

  // What is typed is searched already: the list would be replaced under the press that follows.
  document.getElementById("search").addEventListener("change", (event) => event.stopPropagation());
  const inView = document.getElementById("in-view");
  inView.closest("label").hidden = false;
  inView.addEventListener("change", (event) => {
    event.stopPropagation(); // the form would load the list a second time
    followMap(map);
  });
  if (restoreView(map)) layer.load();
  else layer.showAll();
}

/** Say below the map what it leaves out, or why it could not be loaded. */
export function showNote(error, leftOut) {
  const note = document.getElementById("map-note");
  note.textContent = error ? `The map could not be loaded: ${error.message}` : leftOut;
  note.hidden = !note.textContent;
}
