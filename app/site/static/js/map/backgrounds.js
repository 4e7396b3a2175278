// What lies below the shapes of a map: backgrounds and overlays, and the switch for them.

import { landLayer } from "./land.js";
import { iconElement } from "./map.js";

const { L } = window;
const BLANK = { name: "blank", title: "Plain, works offline" }; // the land alone
const KEY = "canopy-layers"; // of the reader's choice, in this browser
const PATIENCE = 15_000; // milliseconds in which a server replies

/** Show the layers of data-layers on a map, as the reader has chosen, and a switch if there is a
 * choice. The land is shown where the background is not. */
export function addBackgrounds(map) {
  const all = JSON.parse(map.getContainer().dataset.layers ?? "[]");
  const backgrounds = [...all.filter(({ overlay }) => !overlay), BLANK];
  const overlays = all.filter(({ overlay }) => overlay);
  const choice = { overlays: {}, ...readChoice() };
  let background = backgrounds.find(({ name }) => name === choice.background) ?? backgrounds[0];
  const land = landLayer();
  const missing = new Set(); // layers of which nothing comes
  const note = L.DomUtil.create("p", "map-note layer-note", map.getContainer());
  note.setAttribute("role", "status");
  L.DomEvent.disableClickPropagation(note);
  const showLand = () => {
    const isSeen = background === BLANK || missing.has(background) || map.getZoom() < background.min_zoom;
    if (isSeen) land.addTo(map);
    else land.remove();
    map.getContainer().classList.toggle("over-images", !isSeen && background.type !== "pmtiles");
  };
  const tell = (layer, isMissing) => {
    if (missing.has(layer) === isMissing) return;
    if (isMissing) missing.add(layer);
    else missing.delete(layer);
    const titles = [...missing].map(({ title }) => title).join(", ");
    note.replaceChildren();
    if (titles) {
      note.append(`${titles}: the server refuses, or does not reply. `);
      const close = L.DomUtil.create("button", "link", note);
      close.textContent = "Close";
      close.addEventListener("click", () => note.replaceChildren());
    }
    showLand();
  };
  const made = new Map();
  const make = (layer) => {
    if (!made.has(layer)) made.set(layer, tiles(layer, (isMissing) => tell(layer, isMissing)));
    return made.get(layer);
  };
  const showBackground = async (wanted) => {
    const former = background;
    background = wanted;
    if (made.has(former)) (await make(former)).remove();
    showLand();
    if (wanted === BLANK) return;
    const layer = await make(wanted);
    if (background === wanted) layer.addTo(map);
  };
  const showOverlay = async (overlay) => {
    const layer = await make(overlay);
    const opacity = choice.overlays[overlay.name];
    if (opacity === undefined) layer.remove();
    else layer.setOpacity(opacity).addTo(map);
  };
  showBackground(background);
  overlays.filter(({ name }) => name in choice.overlays).forEach(showOverlay);
  map.on("zoomend", showLand);
  if (all.length) addSwitch(map, { backgrounds, background, overlays, choice, showBackground, showOverlay });
}

async function tiles(layer, tell) {
  const options = {
    attribution: safeHtml(layer.attribution),
    minZoom: layer.min_zoom,
    maxNativeZoom: layer.max_zoom,
    maxZoom: 20,
    opacity: layer.opacity,
    zIndex: layer.overlay ? 1 : 0, // shapes have more
    referrerPolicy: "strict-origin-when-cross-origin", // openstreetmap.org refuses requests without
  };
  if (layer.type === "pmtiles") {
    const { basemapLayer } = await import("./basemap_layer.js");
    const own = basemapLayer(layer.url, { ...options, maxZoom: layer.max_zoom });
    return own.on("tileerror", () => tell(true)).on("tileload remove", () => tell(false));
  }
  const wms = { layers: layer.wms_layers, format: "image/png", transparent: layer.overlay };
  const made = layer.type === "wms" ? L.tileLayer.wms(layer.url, { ...options, ...wms }) : L.tileLayer(layer.url, options);
  return watch(made, tell);
}

/** Call tell(true) when no tile of a view comes, and tell(false) when one does. */
function watch(layer, tell) {
  let [loaded, failed, timer] = [0, 0];
  layer.on("loading", () => {
    loaded = failed = 0;
    clearTimeout(timer);
    timer = setTimeout(() => loaded || tell(true), PATIENCE);
  });
  layer.on("tileload", () => {
    loaded += 1;
    tell(false);
  });
  layer.on("tileerror", () => (failed += 1));
  layer.on("load", () => {
    clearTimeout(timer);
    if (failed && !loaded) tell(true);
  });
  layer.on("remove", () => {
    clearTimeout(timer);
    tell(false);
  });
  return layer;
}

function addSwitch(map, { backgrounds, background, overlays, choice, showBackground, showOverlay }) {
  const keep = () => localStorage.setItem(KEY, JSON.stringify(choice));
  const control = L.control({ position: "topright" });
  control.onAdd = () => {
    const box = L.DomUtil.create("details", "leaflet-bar map-layers");
    const button = L.DomUtil.create("summary", "", box);
    button.title = "Background and layers";
    button.setAttribute("aria-label", button.title);
    button.append(iconElement("layers"));
    const panel = L.DomUtil.create("div", "", box);
    const radios = fieldset(panel, "Background");
    for (const each of backgrounds) {
      const radio = field(radios, "radio", each.title, () => {
        showBackground(each);
        choice.background = each.name;
        keep();
      });
      radio.name = `background-${L.stamp(map)}`;
      radio.checked = each === background;
    }
    const boxes = overlays.length ? fieldset(panel, "Over it") : null;
    for (const each of overlays) addOverlay(boxes, each);
    L.DomEvent.disableClickPropagation(box);
    L.DomEvent.disableScrollPropagation(box);
    box.addEventListener("keydown", (event) => {
      event.stopPropagation(); // of the map, and of the tool at hand
      if (event.key !== "Escape") return;
      box.open = false;
      button.focus();
    });
    map.on("click", () => (box.open = false));
    return box;
  };
  const addOverlay = (boxes, overlay) => {
    const change = () => {
      if (check.checked) choice.overlays[overlay.name] = range.value / 100;
      else delete choice.overlays[overlay.name];
      range.parentElement.hidden = !check.checked;
      showOverlay(overlay);
      keep();
    };
    const check = field(boxes, "checkbox", overlay.title, change);
    const range = field(boxes, "range", "Opacity", change);
    check.checked = overlay.name in choice.overlays;
    range.value = 100 * (choice.overlays[overlay.name] ?? overlay.opacity);
    range.setAttribute("aria-label", `Opacity of ${overlay.title}`);
    range.parentElement.hidden = !check.checked;
    if (overlay.legend) L.DomUtil.create("p", "quiet", boxes).textContent = overlay.legend;
  };
  control.addTo(map);
}

function fieldset(parent, words) {
  const set = L.DomUtil.create("fieldset", "", parent);
  L.DomUtil.create("legend", "", set).textContent = words;
  return set;
}

/** A field with its label, in another element. */
function field(parent, type, words, onChange) {
  const label = L.DomUtil.create("label", "", parent);
  const input = L.DomUtil.create("input", "", label);
  input.type = type;
  label.append(words);
  input.addEventListener("change", onChange);
  return input;
}

function readChoice() {
  try {
    return JSON.parse(localStorage.getItem(KEY));
  } catch {
    return null;
  }
}

/** The text of an attribution and its links, as HTML without anything else. */
function safeHtml(html) {
  const box = document.createElement("span");
  for (const node of new DOMParser().parseFromString(html, "text/html").body.childNodes) {
    const isLink = node.nodeName === "A" && /^https?:/.test(node.href);
    const shown = isLink ? Object.assign(document.createElement("a"), { href: node.href }) : document.createElement("span");
    shown.textContent = node.textContent;
    box.append(shown);
  }
  return box.innerHTML;
}
