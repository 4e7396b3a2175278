// The page of an import: its features on a map, which follows the list, and the list the map.

import { color, onThemeChange } from "./map/colors.js";
import { createMap, mapButton } from "./map/map.js";
import { showNeighbors } from "./map/neighbors.js";
import { toast } from "./toasts.js";

const { L } = window;
const STYLE = { weight: 2, fillOpacity: 0.2 };
const COLORS = { new: "added", changed: "draft", same: "muted", rejected: "removed" };
let view = null; // of the map that the page has now

/** The map of one comparison, with the features that its list shows. */
class View {
  constructor(element) {
    this.element = element;
    this.map = createMap(element);
    this.shapes = L.featureGroup().addTo(this.map);
    // Of all pages of the list, below those of its page; thousands are drawn on one canvas.
    this.map.createPane("all").style.zIndex = 350;
    this.all = L.featureGroup().addTo(this.map);
    this.all.bindTooltip(({ feature }) => text(feature.properties.name), { sticky: true });
    this.all.on("click", ({ propagatedFrom: { feature } }) => open(feature.properties.number));
    this.layersOfAll = new Map(); // by the number of the feature
    this.renderer = L.canvas({ pane: "all" });
    this.map.on("unload", onThemeChange(() => this.all.eachLayer((layer) => layer.setStyle(this.styleOfAll(layer.feature.properties)))));
    this.layers = new Map(); // by the number of the feature
    this.address = "";
    mapButton(this.map, { icon: "layers", label: "Show all features", run: () => this.showAll() });
  }

  async load() {
    const address = document.getElementById("features")?.dataset.shapes;
    if (!address || address === this.address) return;
    this.address = address;
    try {
      const collection = await read(address);
      if (address === this.address) this.draw(collection);
      await this.loadAll(document.getElementById("features").dataset.all);
    } catch (error) {
      this.address = this.allAddress = "";
      this.say(`The map could not be loaded: ${error.message}`);
    }
  }

  /** Load what the list has on all of its pages, piece by piece; not again for another page. */
  async loadAll(address) {
    if (address === this.allAddress) return;
    this.allAddress = address;
    this.all.clearLayers();
    this.layersOfAll.clear();
    let [next, missing, isFirst] = [address ? 0 : null, 0, true];
    while (next !== null) {
      const piece = await read(address.replace(/after=0$/, `after=${next}`));
      if (address !== this.allAddress) return;
      this.drawAll(piece);
      if (isFirst && !this.hasChosen) this.showAll();
      [next, missing, isFirst] = [piece.next, missing + piece.left_out, false];
    }
    if (address && !this.hasChosen) this.showAll();
    if (missing) this.say(`${missing} of all features are too large for the map.`);
  }

  drawAll(collection) {
    const style = ({ properties }) => this.styleOfAll(properties);
    const pointToLayer = (feature, place) => L.circleMarker(place, { ...style(feature), radius: 3 });
    for (const layer of L.geoJSON(collection, { style, pointToLayer }).getLayers()) {
      this.layersOfAll.set(layer.feature.properties.number, layer);
      this.all.addLayer(layer);
    }
  }

  styleOfAll({ part, is_left_out }) {
    return { color: color(is_left_out ? "muted" : COLORS[part]), weight: 1, fill: !is_left_out, fillOpacity: 0.2, renderer: this.renderer };
  }

  draw(collection) {
    this.shapes.clearLayers();
    this.layers.clear();
    const drawn = L.geoJSON(collection, {
      style: ({ properties, geometry }) => ({
        ...STYLE,
        className: `shape ${properties.part} ${geometry.type}${properties.is_left_out ? " left-out" : ""}`,
      }),
      pointToLayer: ({ properties }, place) =>
        L.circleMarker(place, { ...STYLE, radius: properties.part === "fault" ? 7 : 6, className: `shape ${properties.part}` }),
      onEachFeature: (feature, layer) => this.add(feature.properties, layer),
    });
    this.shapes.addLayer(drawn);
    const left = collection.left_out;
    if (!collection.features.length) this.say("None of these features has a place on the map.");
    else this.say(left ? `${left} of these features are too large for the map.` : "");
    this.showAll();
    if (!this.hasNeighbors) showNeighbors(this.map, null, false);
    this.hasNeighbors = true;
    showAddressed();
  }

  add({ number, name, part, message }, layer) {
    this.layers.set(number, [...(this.layers.get(number) ?? []), layer]);
    layer.bindTooltip(text(part === "former" ? `${name}: former boundary` : message ? `${name}: ${message}` : name), { sticky: true });
    layer.on("click", () => choose(number, true));
    // A shape with a tooltip would be a stop of the Tab key; the list has all features.
    layer.on("add", () => layer.getElement().setAttribute("tabindex", "-1"));
  }

  showAll() {
    const bounds = this.shapes.getBounds().extend(this.all.getBounds());
    if (bounds.isValid()) this.map.fitBounds(bounds, { padding: [24, 24], maxZoom: 15, animate: false });
  }

  /** Zoom to a feature. Without animation: Leaflet loses what is drawn meanwhile. */
  show(number) {
    const layers = this.layers.get(number) ?? [];
    const bounds = L.featureGroup(layers).getBounds();
    if (bounds.isValid()) this.map.fitBounds(bounds, { padding: [40, 40], maxZoom: 15, animate: false });
    else this.say("This feature has no place on the map.");
  }

  leaveOut(number, isLeftOut) {
    for (const layer of this.layers.get(number) ?? []) layer.getElement?.()?.classList.toggle("left-out", isLeftOut);
    const layer = this.layersOfAll.get(number);
    if (!layer) return;
    layer.feature.properties.is_left_out = isLeftOut;
    layer.setStyle(this.styleOfAll(layer.feature.properties));
  }

  mark(number) {
    for (const [each, layers] of this.layers) {
      for (const layer of layers) layer.getElement?.()?.classList.toggle("chosen", each === number);
    }
    for (const layer of this.layers.get(number) ?? []) layer.bringToFront?.();
  }

  say(message) {
    const note = document.getElementById("map-note");
    note.textContent = message;
    note.hidden = !message;
  }
}

async function read(address) {
  const response = await fetch(address, { headers: { "X-Requested-With": "fetch" } });
  if (!response.ok) throw new Error((await response.json()).error.message);
  return response.json();
}

/** Show a feature in the list and on the map; if it is on another page of the list, on that. */
function open(number) {
  if (document.getElementById(`feature-${number}`)) choose(number, true);
  else location.assign(`${location.pathname}?feature=${number}#map-place`);
}

/** Mark a feature in the list and on the map. */
function choose(number, isFromMap = false) {
  for (const row of document.querySelectorAll("li[data-number]")) {
    const isChosen = Number(row.dataset.number) === number;
    row.classList.toggle("chosen", isChosen);
    if (isChosen && isFromMap) row.scrollIntoView({ block: "center", behavior: "smooth" });
  }
  if (view) view.hasChosen = true;
  view?.mark(number);
}

/** Show a feature in the list, and the first place of a fault of it on the map. */
function showFault(number, code) {
  const row = document.getElementById(`feature-${number}`);
  if (!row || !view) return;
  choose(number, true);
  const places = [...row.querySelectorAll(".show-place")];
  const place = places.find((link) => link.dataset.code === code) ?? places[0];
  if (place) showPlace(place);
  else view.show(number);
}

function showPlace({ dataset }) {
  view.map.setView([dataset.latitude, dataset.longitude], 17, { animate: false });
}

/** Once: what the address names. */
let addressed = new URLSearchParams(location.search);
function showAddressed() {
  if (addressed?.get("feature")) showFault(Number(addressed.get("feature")), addressed.get("fault"));
  addressed = null;
}

// Ticks are sent one after the other, each with all that the list shows; what counts features changes.
const COUNTING = ["headline", "plan-use", "feature-tabs", "decision"];
let sending = Promise.resolve();

async function leaveOut(form) {
  try {
    const response = await fetch(form.action, {
      method: "POST",
      body: new FormData(form),
      headers: { "X-Requested-With": "fetch" },
    });
    if (!response.ok) throw new Error((await response.json()).error.message);
    const made = new DOMParser().parseFromString(await response.text(), "text/html");
    for (const id of COUNTING) {
      const [element, replacement] = [document.getElementById(id), made.getElementById(id)];
      if (!element || !replacement) continue;
      element.className = replacement.className;
      element.replaceChildren(...replacement.childNodes);
      window.htmx.process(element);
    }
  } catch (error) {
    toast(`This was not saved: ${error.message} Reload the page.`, true);
  }
}

/** A small map beside a question: where each answer puts the file. */
function drawPlaces(element) {
  const map = createMap(element);
  map.scrollWheelZoom.disable();
  for (const [longitude, latitude] of JSON.parse(element.dataset.near)) {
    L.circleMarker([latitude, longitude], { radius: 4, className: "near-place", interactive: false }).addTo(map);
  }
  const places = L.featureGroup().addTo(map);
  for (const { label, bbox: [west, south, east, north] } of JSON.parse(element.dataset.places)) {
    const bounds = [[south, west], [north, east < west ? east + 360 : east]];
    L.rectangle(bounds, { className: "option-place", interactive: false }).addTo(places);
    const number = document.createElement("span");
    number.className = "place-number";
    number.textContent = label;
    const icon = L.divIcon({ html: number, className: "", iconSize: null });
    L.marker(L.latLngBounds(bounds).getCenter(), { icon, interactive: false, keyboard: false }).addTo(places);
  }
  map.fitBounds(places.getBounds(), { padding: [28, 28], maxZoom: 7, animate: false });
}

function text(content) {
  const box = document.createElement("span");
  box.dir = "auto";
  box.textContent = content;
  return box;
}

/** Make the map anew where the page has another one, and load what the list shows. */
function update() {
  const element = document.getElementById("map");
  if (!window.L) return;
  for (const small of document.querySelectorAll(".small-map:not(.leaflet-container)")) drawPlaces(small);
  if (!element) return;
  if (view?.element !== element) {
    view?.map.remove();
    view = new View(element);
  }
  view.load();
}

document.addEventListener("click", (event) => {
  if (event.target.closest('a[href="#reading"]')) document.getElementById("reading").open = true;
  const fault = event.target.closest("a.show-fault");
  if (fault && view && document.getElementById(`feature-${fault.dataset.number}`)) {
    event.preventDefault();
    view.say("");
    showFault(Number(fault.dataset.number), fault.dataset.code);
  }
  if (event.target.closest("input, button")) return;
  const link = event.target.closest("a.show-place");
  const row = event.target.closest("li[data-number]");
  if (!view || !row || (event.target.closest("a") && !event.target.closest(".show-feature, .show-place"))) return;
  event.preventDefault();
  const number = Number(row.dataset.number);
  view.say("");
  choose(number);
  if (link) showPlace(link);
  else view.show(number);
  if (matchMedia("(max-width: 60rem)").matches) view.element.scrollIntoView({ block: "nearest" });
});
document.addEventListener("change", ({ target }) => {
  if (target.name !== "kept") return;
  const form = target.form;
  view?.leaveOut(Number(target.value), !target.checked);
  sending = sending.then(() => leaveOut(form));
});
document.addEventListener("htmx:after:swap", update);
update();
