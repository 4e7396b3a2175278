// Lines of longitude and latitude, and their numbers at the upper and the right edge of a map.

import { degree } from "../formats.js";
import { color } from "./colors.js";
import { overlap } from "./shapes.js";

const { L } = window;
// Degrees between two lines, by zoom.
const STEPS = [
  45, 30, 30, 15, 10, 5, 2, 1, 0.5, 0.25, 0.1, 0.05, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005, 0.0005, 0.0002,
];

const stepAt = (zoom) => STEPS[Math.min(Math.round(zoom), STEPS.length - 1)];

function* linesBetween(from, to, step) {
  for (let number = Math.ceil(from / step); number <= to / step; number += 1) yield number * step;
}

/** Draw the lines on a tile. */
export function drawGraticule(context, { x, y, z }, size) {
  const tiles = 2 ** z;
  const longitude = (px) => ((x + px / size) / tiles) * 360 - 180;
  const latitude = (py) => (Math.atan(Math.sinh(Math.PI * (1 - (2 * (y + py / size)) / tiles))) * 180) / Math.PI;
  const column = (degrees) => (((degrees + 180) / 360) * tiles - x) * size;
  const row = (degrees) => {
    const mercator = Math.asinh(Math.tan((degrees * Math.PI) / 180)) / Math.PI;
    return (((1 - mercator) / 2) * tiles - y) * size;
  };
  context.strokeStyle = color("graticule");
  context.lineWidth = 0.5;
  context.beginPath();
  for (const line of linesBetween(longitude(0), longitude(size), stepAt(z))) {
    context.moveTo(column(line), 0);
    context.lineTo(column(line), size);
  }
  for (const line of linesBetween(latitude(size), latitude(0), stepAt(z))) {
    context.moveTo(0, row(line));
    context.lineTo(size, row(line));
  }
  context.stroke();
}

/** A number of degrees with a letter: 22.95° E. */
const written = (degrees, step, letters) => degree(degrees, letters, (String(step).split(".")[1] ?? "").length);

/** Show the numbers where no control is. Returns what ends that. */
export function showNumbers(map) {
  const box = L.DomUtil.create("div", "graticule-numbers", map.getContainer());
  box.setAttribute("aria-hidden", "true");

  function show() {
    const [bounds, step, width] = [map.getBounds(), stepAt(map.getZoom()), map.getSize().x];
    const numbers = [];
    for (const line of linesBetween(bounds.getWest(), bounds.getEast(), step)) {
      const longitude = line - 360 * Math.round(line / 360);
      numbers.push([map.latLngToContainerPoint([0, line]).x, 0, written(longitude, step, "EW"), "longitude"]);
    }
    for (const line of linesBetween(bounds.getSouth(), bounds.getNorth(), step)) {
      if (Math.abs(line) > 85) continue;
      numbers.push([width, map.latLngToContainerPoint([line, 0]).y, written(line, step, "NS"), "latitude"]);
    }
    box.replaceChildren(
      ...numbers.map(([x, y, text, kind]) => {
        const number = document.createElement("span");
        number.className = kind;
        number.textContent = text;
        number.style.left = `${x}px`;
        number.style.top = `${y}px`;
        return number;
      }),
    );
    const controls = map.getContainer().querySelectorAll(".leaflet-control, .graticule-numbers > .longitude");
    const taken = [...controls].map((control) => [control, control.getBoundingClientRect()]);
    const edges = box.getBoundingClientRect();
    for (const number of box.children) {
      const place = number.getBoundingClientRect();
      const isCut = place.left < edges.left || place.right > edges.right + 1 || place.bottom > edges.bottom;
      number.hidden = isCut || taken.some(([control, other]) => control !== number && overlap(place, other));
    }
  }

  map.on("move zoomend resize", show);
  map.whenReady(show);
  return () => {
    map.off("move zoomend resize", show);
    box.remove();
  };
}
