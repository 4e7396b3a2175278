// The page of an import: its features on a map, which follows the list, and the list the map.

import { load } from "./load.js";
import { color } from "./map/colors.js";
import { textElement } from "./map/list_and_map.js";
import { createMap, mapButton } from "./map/map.js";
import { showNeighbors } from "./map/neighbors.js";
import { drawShapes, ShapeLayer } from "./map/shape_layer.js";
import { boxAround, boxOfGeometry } from "./map/shapes.js";
import { placesOn, showBox } from "./map/view.js";
import { toast } from "./toasts.js";

const { L } = window;
const STYLE = { weight: 2, fillOpacity: 0.2 };
const COLORS = { new: "added", changed: "draft", same: "muted", rejected: "removed" };
const DASHES = { rejected: [2, 3] };
let view = null; // of the map that the page has now

/** How a feature is drawn, unless the page of the list has it. */
function lookOf({ number, part, is_left_out: isLeftOut }) {
  if (view.layers.has(number)) return null;
  if (isLeftOut) return { color: color("muted"), fill: 0 };
  return { color: color(COLORS[part]), dashes: DASHES[part] };
}

/** The map of one comparison: all features of the list, and above them those of its page. */
class View {
  constructor(element) {
    this.element = element;
    this.map = createMap(element);
    this.shapes = L.featureGroup().addTo(this.map);
    this.all = new ShapeLayer(this.map, (...given) => drawShapes(...given, lookOf), {
      hasNames: true,
      index: { tolerance: 0 }, // the server has simplified them; what is small or crosses itself stays
    });
    this.layers = new Map(); // by the number of the feature
    this.address = "";
    mapButton(this.map, { icon: "layers", label: "Show all features", run: () => this.showAll() });
    const tip = L.tooltip({ sticky: true, opacity: 1 });
    const at = ({ latlng, originalEvent: { target } }) => (target.matches("path.shape") ? null : this.all.at(latlng));
    this.map.on("mousemove", (event) => {
      const feature = at(event);
      this.map.getContainer().classList.toggle("over-shape", Boolean(feature));
      if (feature) tip.setContent(textElement("span", feature.properties.name)).setLatLng(event.latlng).openOn(this.map);
      else this.map.closeTooltip(tip);
    });
    this.map.on("click", (event) => {
      const feature = at(event);
      if (feature) open(feature.properties.number);
    });
  }

  async load() {
    const features = document.getElementById("features");
    const address = features?.dataset.shapes;
    if (!address || address === this.address) return;
    this.address = address;
    try {
      const collection = await load(address);
      if (address === this.address) this.draw(collection);
      await this.loadAll(features.dataset.all);
    } catch (error) {
      this.address = this.allAddress = "";
      this.say(`The map could not be loaded: ${error.message}`);
    }
  }

  /** Load what the list has on all of its pages, piece by piece; not again for another page. */
  async loadAll(address) {
    if (address === this.allAddress) return;
    this.allAddress = address;
    const features = [];
    let [next, missing, drawn] = [0, 0, 0];
    while (next !== null) {
      const piece = await load(address.replace(/after=0$/, `after=${next}`));
      if (address !== this.allAddress) return;
      features.push(...piece.features);
      [next, missing] = [piece.next, missing + piece.left_out];
      if (next !== null && features.length < 2 * drawn) continue; // all are cut into tiles anew
      drawn = features.length;
      for (const feature of features) feature.box ??= boxOfGeometry(feature.geometry);
      features.sort((one, other) => extent(other) - extent(one));
      this.all.show({ type: "FeatureCollection", features: [...features] });
      if (!this.hasChosen) this.showAll();
    }
    if (missing) this.say(`${missing} of all features are too large for the map.`);
  }

  draw(collection) {
    this.shapes.clearLayers();
    this.layers.clear();
    this.features = collection.features;
    this.showAll();
    const drawn = L.geoJSON(collection, {
      coordsToLatLng: placesOn(this.map),
      style: ({ properties, geometry }) => ({
        ...STYLE,
        className: `shape ${properties.part} ${geometry.type}${properties.is_left_out ? " left-out" : ""}`,
      }),
      pointToLayer: ({ properties }, place) =>
        L.circleMarker(place, { ...STYLE, radius: properties.part === "fault" ? 7 : 6, className: `shape ${properties.part}` }),
      onEachFeature: (feature, layer) => this.add(feature.properties, layer),
    });
    this.shapes.addLayer(drawn);
    this.all.tiles.repaint();
    const left = collection.left_out;
    if (!collection.features.length) this.say("None of these features has a place on the map.");
    else this.say(left ? `${left} of these features are too large for the map.` : "");
    if (!this.hasNeighbors) showNeighbors(this.map, null, false);
    this.hasNeighbors = true;
    showAddressed();
  }

  add({ number, name, part, message }, layer) {
    this.layers.set(number, [...(this.layers.get(number) ?? []), layer]);
    const words = part === "former" ? `${name}: former boundary` : message ? `${name}: ${message}` : name;
    layer.bindTooltip(textElement("span", words), { sticky: true });
    layer.on("click", () => choose(number, true));
    // A shape with a tooltip would be a stop of the Tab key; the list has all features.
    layer.on("add", () => layer.getElement().setAttribute("tabindex", "-1"));
  }

  showAll() {
    const box = boxAround([...this.features, ...this.all.features]);
    if (box) showBox(this.map, box, 15);
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
    const feature = this.all.features.find(({ properties }) => properties.number === number);
    if (!feature) return;
    feature.properties.is_left_out = isLeftOut;
    this.all.tiles.repaint();
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

const extent = ({ box: [west, south, east, north] }) => (east - west) * (north - south);

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
    const number = Object.assign(textElement("span", label), { className: "place-number" });
    const icon = L.divIcon({ html: number, className: "", iconSize: null });
    L.marker(L.latLngBounds(bounds).getCenter(), { icon, interactive: false, keyboard: false }).addTo(places);
  }
  map.fitBounds(places.getBounds(), { padding: [28, 28], maxZoom: 7, animate: false });
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
