// A map as all pages have it: backgrounds, scale, coordinates, the reader's position.

import { degrees, length } from "../formats.js";
import { toast } from "../toasts.js";
import { addBackgrounds } from "./backgrounds.js";

const { L } = window;
export const NO_POSITION = "Your position is not available. Allow it in your browser’s settings.";

/** Make the map of an element with data-layers (app/site/templates/live_map.html). */
export function createMap(element) {
  const map = L.map(element, {
    center: [20, 0],
    zoom: 2,
    minZoom: 1,
    maxZoom: 20,
    worldCopyJump: true,
    maxBoundsViscosity: 1,
    maxBounds: [[-90, -Infinity], [90, Infinity]],
  });
  const { choose } = element.dataset; // for operators, where a background is turned on
  const hint = choose ? `<span class="map-hint">No roads or imagery? <a href="${choose}">Turn on a background</a></span>` : "";
  map.attributionControl.setPrefix(`${hint}<a href="https://leafletjs.com">Leaflet</a>`);
  const attribution = map.attributionControl.getContainer();
  const keepFree = () => element.parentElement.style.setProperty("--attribution", `${attribution.offsetHeight}px`);
  new ResizeObserver(keepFree).observe(attribution);
  addBackgrounds(map);
  const scale = L.control.scale({ imperial: false });
  scale._updateMetric = (widest) => {
    const meters = scale._getRoundNum(widest);
    scale._updateScale(scale._mScale, length(meters / 1000, 0), meters / widest);
  };
  scale.addTo(map);
  coordinates().addTo(map);
  return map;
}

/** A button on a map: its name is what it does. */
export function mapButton(map, { icon, label, position = "topleft", run }) {
  const control = L.control({ position });
  control.onAdd = () => {
    const bar = L.DomUtil.create("div", "leaflet-bar leaflet-control map-button");
    const button = L.DomUtil.create("button", "", bar);
    button.type = "button";
    button.title = label;
    button.setAttribute("aria-label", label);
    button.append(iconElement(icon));
    L.DomEvent.disableClickPropagation(bar);
    button.addEventListener("click", () => run(button));
    return bar;
  };
  return control.addTo(map);
}

/** A button that shows where the reader is. */
export function positionButton(map) {
  let marker = null;
  map.on("locationfound", ({ latlng, accuracy }) => {
    marker?.remove();
    marker = L.circle(latlng, { radius: accuracy, className: "my-position" }).addTo(map);
  });
  map.on("locationerror", () => toast(NO_POSITION, true));
  mapButton(map, {
    icon: "locate-fixed",
    label: "Show my position",
    run: () => map.locate({ setView: true, maxZoom: 15, enableHighAccuracy: true }),
  });
}

export function iconElement(name) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(space, "use");
  use.setAttribute("href", `${new URL("../../third_party/icons.svg", import.meta.url).pathname}#${name}`);
  svg.append(use);
  return svg;
}

function coordinates() {
  const control = L.control({ position: "bottomleft" });
  control.onAdd = (map) => {
    const box = L.DomUtil.create("div", "map-coordinates");
    box.setAttribute("aria-hidden", "true");
    map.on("mousemove", ({ latlng }) => {
      const place = latlng.wrap();
      box.textContent = degrees(place.lat, place.lng, 5);
    });
    map.on("mouseout movestart", () => (box.textContent = ""));
    return box;
  };
  return control;
}
