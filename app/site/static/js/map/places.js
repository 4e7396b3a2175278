// Going to a country or to coordinates.

import { readPlace } from "../coordinates.js";
import { toast } from "../toasts.js";
import { mapButton } from "./map.js";

/** A button that opens a field for the name of a country, or for coordinates. */
export function placeButton(map) {
  const hasCountries = true;
  const form = document.createElement("form");
  form.className = "go-to";
  form.hidden = true;
  const field = document.createElement("input");
  field.setAttribute("aria-label", hasCountries ? "Country or coordinates" : "Coordinates");
  field.setAttribute("list", "countries");
  field.placeholder = hasCountries ? "Brazil, or 48.5, 8.2" : "48.5, 8.2";
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
    if (goToCoordinates(map, field.value) || goToCountry(map, field.value, await map.countries)) close();
    else toast(`No such place. Type ${hasCountries ? "a country, or " : ""}latitude and longitude such as 48.51, 8.21.`, true);
  });
  form.addEventListener("keydown", (event) => {
    event.stopPropagation(); // of the map, and of the tool at hand
    if (event.key === "Escape") close();
  });
  const control = mapButton(map, {
    icon: "search",
    label: hasCountries ? "Go to a country or coordinates" : "Go to coordinates",
    run: async () => {
      form.hidden = !form.hidden;
      if (form.hidden) return;
      field.select();
      if (!options.children.length) options.append(...(await map.countries).map(({ name }) => new Option(name)));
    },
  });
  control.getContainer().append(form);
}

function goToCoordinates(map, text) {
  const place = readPlace(text);
  if (!place) return false;
  map.setView(place, 13, { animate: false });
  return true;
}

/** The words of a name without accents, and without those that people leave out. */
const words = (text) =>
  text
    .normalize("NFD")
    .replace(/\p{Mark}/gu, "")
    .toLowerCase()
    .split(/[^\p{Letter}\p{Number}]+/u)
    .filter((word) => word && !["the", "of", "and"].includes(word));

function goToCountry(map, text, countries) {
  const wanted = words(text);
  if (!wanted.length) return false;
  const named = countries.map((country) => [words(country.name), country]);
  const [, found] =
    named.find(([name]) => name.join(" ") === wanted.join(" ")) ??
    named.find(([name]) => name.join(" ").startsWith(wanted.join(" "))) ??
    named.find(([name]) => wanted.every((word) => name.some((each) => each.startsWith(word)))) ??
    [];
  if (!found) return false;
  const [west, south, east, north] = found.box;
  map.fitBounds([[south, west], [north, east]], { animate: false });
  return true;
}
