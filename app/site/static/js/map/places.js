// Going to a country or to coordinates.

import { readDegrees } from "../coordinates.js";
import { toast } from "../toasts.js";
import { mapButton } from "./map.js";

/** A button that opens a field for the name of a country, or for coordinates. */
export function placeButton(map) {
  const form = document.createElement("form");
  form.className = "go-to";
  form.hidden = true;
  const field = document.createElement("input");
  field.setAttribute("aria-label", "Country or coordinates");
  field.setAttribute("list", "countries");
  field.placeholder = "Brazil, or 48.5, 8.2";
  field.autocomplete = "off";
  const options = document.createElement("datalist");
  options.id = "countries";
  form.append(field, options);
  const close = () => {
    form.hidden = true;
    map.getContainer().focus({ preventScroll: true });
  };
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (goTo(map, field.value, await map.countries)) close();
    else toast("No such place. Type a country, or latitude and longitude such as 48.51, 8.21.", true);
  });
  form.addEventListener("keydown", (event) => {
    event.stopPropagation(); // of the map, and of the tool at hand
    if (event.key === "Escape") close();
  });
  const control = mapButton(map, {
    icon: "search",
    label: "Go to a country or coordinates",
    run: async () => {
      form.hidden = !form.hidden;
      if (form.hidden) return;
      field.select();
      if (!options.children.length) options.append(...(await map.countries).map(({ name }) => new Option(name)));
    },
  });
  control.getContainer().append(form);
}

function goTo(map, text, countries) {
  const wanted = text.trim().toLowerCase();
  const halves = /[;,]/.test(wanted) ? wanted.split(/[;,]/) : wanted.split(/\s+/);
  const [latitude, longitude] = [readDegrees(halves[0], "latitude"), readDegrees(halves[1] ?? "", "longitude")];
  if (halves.length === 2 && latitude !== null && longitude !== null) {
    map.setView([latitude, longitude], 13, { animate: false });
    return true;
  }
  const found =
    countries.find(({ name }) => name.toLowerCase() === wanted) ??
    countries.find(({ name }) => wanted && name.toLowerCase().startsWith(wanted));
  if (!found) return false;
  const [west, south, east, north] = found.box;
  map.fitBounds([[south, west], [north, east]], { animate: false });
  return true;
}
