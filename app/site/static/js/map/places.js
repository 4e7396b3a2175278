// Going to a town, a country, a project or a position, which the server finds.

import { degrees } from "../formats.js";
import { mapButton } from "./map.js";

const { L } = window;
const PAUSE = 200; // milliseconds after the last key

/** What a text may mean, as {places, message} of app/pages/map/places.py. */
export async function findPlaces(text, signal) {
  const address = `/map/places?${new URLSearchParams({ q: text })}`;
  const response = await fetch(address, { headers: { "X-Requested-With": "fetch" }, signal });
  const { data, error } = await response.json();
  return data ?? { places: [], message: error.message };
}

/** A button that opens a field for a place, with suggestions while one types: the combobox of ARIA 1.2. */
export function placeButton(map) {
  const form = document.createElement("form");
  form.className = "go-to";
  form.hidden = true;
  form.innerHTML = `
    <input role="combobox" aria-label="Town, country, project or coordinates" placeholder="Albac, or ${degrees(46.45, 22.95, 2)}"
      aria-autocomplete="list" aria-expanded="false" aria-controls="go-to-places" aria-describedby="go-to-message"
      autocomplete="off" autocapitalize="none" spellcheck="false" maxlength="200">
    <ul id="go-to-places" role="listbox" aria-label="Places" hidden></ul>
    <p id="go-to-message" role="status"></p>`;
  const [field, list, message] = form.children;
  const control = mapButton(map, {
    icon: "search",
    label: "Go to a place",
    run: () => {
      form.hidden = !form.hidden;
      if (!form.hidden) field.select();
    },
  });
  control.getContainer().append(form);
  L.DomEvent.disableScrollPropagation(form);

  let asked = null; // {text, places, abort} of the latest request
  let chosen = -1;
  let pin = null;
  let timer = null;

  const choose = (index) => {
    chosen = index;
    [...list.children].forEach((option, place) => option.setAttribute("aria-selected", place === index));
    list.children[index]?.scrollIntoView({ block: "nearest" });
    if (index < 0) field.removeAttribute("aria-activedescendant");
    else field.setAttribute("aria-activedescendant", list.children[index].id);
  };
  const show = (places) => {
    list.replaceChildren(...places.map(asOption));
    list.hidden = !places.length;
    field.setAttribute("aria-expanded", !list.hidden);
    choose(-1);
  };
  const ask = (text) => {
    asked?.abort.abort();
    const abort = new AbortController();
    const failed = { places: [], message: "The server cannot be reached. Try again." };
    const places = findPlaces(text, abort.signal).catch((error) => (error.name === "AbortError" ? null : failed));
    asked = { text, abort, places };
    return places;
  };
  const goTo = ({ name, place, zoom, box }) => {
    pin?.remove();
    if (box) map.fitBounds([[box[1], box[0]], [box[3], box[2]]], { animate: false, maxZoom: 16 });
    else {
      map.setView([place[1], place[0]], zoom, { animate: false });
      pin = pinAt(place, name).addTo(map);
    }
    close();
  };
  const close = () => {
    form.hidden = true;
    show([]);
    map.getContainer().focus({ preventScroll: true });
  };

  field.addEventListener("input", () => {
    message.textContent = "";
    clearTimeout(timer);
    const text = field.value.trim();
    timer = setTimeout(async () => {
      const found = text ? await ask(text) : { places: [] };
      if (found && field.value.trim() === text) show(found.places);
    }, PAUSE);
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    clearTimeout(timer);
    const text = field.value.trim();
    if (!text) return;
    const index = Math.max(chosen, 0);
    const found = await (asked?.text === text ? asked.places : ask(text));
    if (!found || field.value.trim() !== text) return;
    if (found.places.length) goTo(found.places[index]);
    else {
      show([]);
      message.textContent = found.message;
      asked = null; // the next try asks again
    }
  });
  form.addEventListener("keydown", (event) => {
    event.stopPropagation(); // of the map, and of the tool at hand
    const { length } = list.children;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") list.hidden ? close() : show([]);
    else if (step && length) choose((Math.max(chosen, step < 0 ? 0 : -1) + step + length) % length);
    else return;
    event.preventDefault();
  });
  list.addEventListener("mousedown", (event) => event.preventDefault()); // the field keeps the focus
  list.addEventListener("click", ({ target }) => {
    choose([...list.children].indexOf(target.closest("li")));
    form.requestSubmit();
  });
}

function asOption({ name, note }, number) {
  const option = document.createElement("li");
  option.id = `go-to-${number}`;
  option.setAttribute("role", "option");
  const small = document.createElement("small");
  small.textContent = note;
  option.append(name, small);
  return option;
}

/** A pin with the name of its place. It goes when it is pressed, also by a key. */
function pinAt([longitude, latitude], name) {
  const icon = L.divIcon({ className: "go-to-pin", iconSize: [18, 18] });
  const title = `${name}: remove the pin`;
  const pin = L.marker([latitude, longitude], { icon, title, attribution: "Places: GeoNames", pmIgnore: true, snapIgnore: true });
  const label = document.createElement("span");
  label.textContent = name;
  return pin.bindTooltip(label, { permanent: true, direction: "right", offset: [8, 0] }).on("click keypress", () => pin.remove());
}
