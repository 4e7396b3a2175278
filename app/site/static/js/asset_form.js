// The form of an asset: its place is clicked or dragged on the map, or typed.

import { fieldsOf, fillIn, KeptWork, offerRows } from "./editor/kept_work.js";
import { createMap, mapButton, NO_POSITION, positionButton } from "./map/map.js";
import { findPlaces, placeButton } from "./map/places.js";
import { loadBoundary } from "./map/boundary.js";
import { covers } from "./map/shapes.js";
import { showLayers } from "./map/view.js";
import { toast } from "./toasts.js";
import { keepToSend, keyInAddress, sendKept, show, takeRefused } from "./waiting.js";

const { L } = window;
const element = document.getElementById("map");
const form = document.getElementById("asset-form");
const latitude = document.getElementById("latitude");
const longitude = document.getElementById("longitude");
const kept = new KeptWork(document.documentElement.dataset.owner, `asset ${form?.dataset.asset}`);

function start() {
  const map = createMap(element);
  placeButton(map);
  positionButton(map);
  let marker = null;
  let boundary = null;
  let asked = null; // the request for what the fields say
  let shown = 0; // how often a project was shown: a boundary that comes after the next is dropped

  const note = (place) => {
    const isOutside = place && boundary && !covers(boundary.geometry, place.lng, place.lat);
    document.getElementById("place-note").textContent = isOutside
      ? "This place is outside the boundary of the project. You can save it anyway."
      : "";
    if (isOutside) document.getElementById("place-note").scrollIntoView({ block: "nearest" });
    document.getElementById("clear-place").hidden = !latitude.value && !longitude.value;
  };
  const showMarker = (place) => {
    if (!place) marker?.remove();
    else if (marker) marker.setLatLng(place).addTo(map);
    else {
      const icon = L.divIcon({ className: "place-pin", iconSize: [22, 22] });
      const options = { draggable: true, autoPan: true, icon, title: "Drag to move", alt: "Place of the asset" };
      marker = L.marker(place, options).addTo(map);
      marker.on("drag", ({ target }) => write(target.getLatLng()));
    }
    note(place);
  };
  const write = (place) => {
    const { lat, lng } = place.wrap();
    latitude.value = lat.toFixed(6);
    longitude.value = lng.toFixed(6);
    kept.keepSoon(form);
    note({ lat, lng });
  };
  const choose = (place) => {
    write(place);
    showMarker(place.wrap());
  };
  const typed = async () => {
    asked?.abort();
    asked = new AbortController();
    const { signal } = asked;
    const place = await placeOf(latitude.value.trim(), longitude.value.trim(), signal);
    if (signal.aborted) return null;
    showMarker(place);
    return place;
  };
  const goTo = (place) => map.setView(place, Math.max(map.getZoom(), 13), { animate: false });
  const showProject = async (project) => {
    const number = (shown += 1);
    boundary?.remove();
    boundary = null;
    const loaded = project ? await loadBoundary(project) : null;
    if (number !== shown) return;
    boundary = loaded?.addTo(map) ?? null;
    const place = await typed();
    if (boundary) showLayers(map, boundary, 16);
    if (place && !map.getBounds().contains(place)) goTo(place);
  };

  map.on("click", ({ latlng }) => choose(latlng));
  for (const field of [latitude, longitude]) {
    field.addEventListener("input", typed);
    field.addEventListener("change", async () => {
      const place = await typed();
      if (place && !map.getBounds().contains(place)) goTo(place);
    });
  }
  mapButton(map, { icon: "trees", label: "Show the whole project", run: () => boundary && showLayers(map, boundary) });
  followChoice(showProject);
  for (const hidden of form.querySelectorAll("[data-with-map]")) hidden.hidden = false;
  document.getElementById("clear-place").addEventListener("click", () => {
    latitude.value = longitude.value = "";
    showMarker(null);
    latitude.focus();
  });
  showOwnPosition((place) => {
    choose(place);
    goTo(place);
  });
  showProject(form.dataset.project);
}

/** The place that two fields say, which the server reads unless they are plain numbers; or null. */
async function placeOf(latitude, longitude, signal) {
  if (!latitude || !longitude) return null;
  const [lat, lng] = [Number(latitude), Number(longitude)];
  if (Math.abs(lat) <= 90 && Math.abs(lng) <= 180) return L.latLng(lat, lng);
  const found = await findPlaces(`lat ${latitude}; lon ${longitude}`, signal).catch(() => null);
  const read = found?.places.find(({ kind }) => kind === "position");
  return read ? L.latLng(read.place[1], read.place[0]) : null;
}

/** Show the boundary of the project that is chosen: its option, or one of several that match. */
function followChoice(showProject) {
  form.addEventListener("change", ({ target }) => {
    if (target.name === "project_id") showProject(target.value);
    if (target.id !== "project") return;
    const option = [...document.getElementById("project-options").options].find(({ value }) => value === target.value);
    showProject(option?.dataset.id);
  });
}

function showOwnPosition(choose) {
  const button = document.getElementById("own-position");
  button.hidden = !navigator.geolocation;
  button.addEventListener("click", () =>
    navigator.geolocation.getCurrentPosition(
      ({ coords }) => choose(L.latLng(coords.latitude, coords.longitude)),
      () => toast(NO_POSITION, true),
      { enableHighAccuracy: true, timeout: 20_000 },
    ),
  );
}

/** Send the form once, however often a button is pressed. Without a connection it waits in this browser. */
async function send(event) {
  event.preventDefault();
  const path = new URL(form.action).pathname;
  const key = keepToSend(path, fieldsOf(form, event.submitter));
  if (!key) return form.submit(); // no room: as without scripts
  setSending(true);
  const saved = await sendKept(key, "fetch");
  if (saved) {
    kept.drop();
    location.assign(saved.path);
    return;
  }
  setSending(false);
  const refused = takeRefused(key);
  if (refused) correct(refused);
  else {
    kept.drop();
    if (form.dataset.asset === "new") empty();
    show();
    document.getElementById("not-sent").scrollIntoView({ block: "nearest" });
  }
}

function setSending(isSending) {
  for (const button of form.querySelectorAll(".save-bar button")) button.disabled = isSending;
}

/** Let the server show the form with its errors, which stays here until it is saved. */
function correct(fields) {
  kept.keep(fields);
  form.submit();
}

/** Make the form ready for the next asset, of the same kind in the same project. */
function empty() {
  for (const field of form.querySelectorAll("input:not([type=hidden], [type=radio]), select, textarea")) {
    if (!["project", "type", "status"].includes(field.name)) field.value = "";
  }
  showFields();
}

/** Show on the map what the fields say. */
function showFields() {
  latitude.dispatchEvent(new Event("change"));
  form.querySelector("#project")?.dispatchEvent(new Event("change", { bubbles: true }));
}

if (form) {
  offerRows(form);
  form.addEventListener("input", () => kept.keepSoon(form));
  form.addEventListener("submit", send);
  form.querySelector("[role=alert] a")?.addEventListener("click", () => kept.drop()); // the saved version is loaded
  addEventListener("pageshow", () => setSending(false));
  if (element && L) start();
  const refused = takeRefused(keyInAddress());
  const fill = (fields) => {
    fillIn(form, fields);
    showFields();
  };
  if (refused) {
    fill(refused);
    correct(refused);
  } else if (!form.querySelector("[role=alert]")) kept.offer(fill);
}
