// The page on which a project is drawn and edited: map, text and form show the same boundary.

import { Boundary } from "./editor/boundary.js";
import { fieldsOf, fillIn, KeptWork, offerRows } from "./editor/kept_work.js";
import { load } from "./load.js";
import { showNeighbors } from "./map/neighbors.js";
import { Report } from "./editor/report.js";
import { toWkt } from "./editor/wkt.js";
import { differenceLayer } from "./map/difference.js";
import { ProjectsLayer } from "./map/projects_layer.js";
import { createMap, mapButton, positionButton } from "./map/map.js";
import { placeButton } from "./map/places.js";
import { linkView, restoreView, showBox } from "./map/view.js";
import { toast } from "./toasts.js";

const HINTS = {
  draw: "Click to add corners; double-click, or click the first corner, to finish. Escape cancels.",
  edit: "Drag a corner to move it, or the dot between two to add one. Right-click a corner to remove it.",
  drag: "Drag a part to move it.",
  cut: "Draw the hole: click its corners, double-click to finish. Escape cancels.",
  remove: "Click the part to remove.",
};
const editor = document.querySelector(".editor");
const { project } = editor.dataset;
const byId = (id) => document.getElementById(id);
const form = () => byId("editor-form");
const kept = new KeptWork(document.documentElement.dataset.owner, project);

let map = null;
let boundary = null;
let report = null;
let theirs = null; // the layer of a conflict
let isTextAhead = false; // while the text is not on the map: drawing would replace it
let sent = null; // the boundary when the form was sent

function start() {
  map = createMap(byId("map"));
  report = new Report(map, project, fromText);
  boundary = new Boundary(map, fromMap, (geometry) => report.check(geometry ? JSON.stringify(geometry) : ""));
  new ProjectsLayer(map, "/projects/map?status=active", () => {}, { without: project, isMuted: true }).load();
  showNeighbors(map, project);
  mapButton(map, { icon: "trees", label: "Show the whole boundary", run: () => boundary.fit() });
  placeButton(map);
  positionButton(map);
  map.on("toolchange", showTool);
  byId("tools").hidden = false;
  byId("tools").addEventListener("click", useTool);
  document.addEventListener("keydown", ({ key }) => {
    if (key === "Escape" && boundary.tool) boundary.use(null);
  });
  begin();
}

/** Begin with the saved boundary, whatever the server says of it: it must not get lost. */
function begin() {
  const text = byId("geometry").value;
  if (!text.trim()) {
    boundary.begin(null);
    report.check("");
    if (!restoreView(map)) showAll();
    return;
  }
  try {
    boundary.begin(drawable(JSON.parse(text)));
    boundary.fit();
    report.check(text);
  } catch {
    loadText(); // as WKT, it comes back from the server
  }
}

/** Where the account's other projects are, for a map that has nothing to show yet. */
async function showAll() {
  const { bbox } = await load("/projects/map?zoom=3").catch(() => ({}));
  if (bbox) showBox(map, bbox, 12);
}

function fromMap(geometry) {
  const text = geometry ? JSON.stringify(geometry) : "";
  byId("geometry").value = text;
  report.check(text);
  showSteps();
  keep();
}

/** Take another geometry, as if somebody had pasted it. */
function fromText(geometry) {
  byId("geometry").value = JSON.stringify(geometry);
  keep();
  loadText();
}

/** Show on the map what the text says, if it is a boundary. */
async function loadText() {
  setTextAhead(true);
  const data = await report.check(byId("geometry").value);
  if (!data) return;
  setTextAhead(false);
  const text = byId("geometry").value;
  boundary.set(drawable(data.geometry));
  byId("geometry").value = text;
  boundary.fit();
}

function setTextAhead(isAhead) {
  isTextAhead = boundary.isLocked = isAhead;
  boundary.use(null);
  for (const button of byId("tools").querySelectorAll("button")) button.disabled = isAhead;
  if (!isAhead) showSteps();
}

/** What can be drawn of a geometry: an invalid one too, so that its faults are seen and fixed. */
function drawable(geometry) {
  const depth = { Polygon: 2, MultiPolygon: 3 }[geometry?.type];
  const isRing = (ring) => ring?.length > 3 && ring.every((each) => each?.length > 1 && each.every(Number.isFinite));
  const rings = depth && Array.isArray(geometry.coordinates) ? geometry.coordinates.flat(depth - 2) : [];
  return rings.length && rings.every(isRing) ? geometry : null;
}

function useTool({ target }) {
  const button = target.closest("button");
  if (button?.dataset.tool) boundary.use(button.dataset.tool);
  else if (button?.dataset.step) boundary[button.dataset.step]();
  showSteps();
}

function showTool({ tool }) {
  for (const button of byId("tools").querySelectorAll("[data-tool]")) {
    button.setAttribute("aria-pressed", String(button.dataset.tool === tool));
  }
  byId("tool-hint").hidden = !tool;
  byId("tool-hint").textContent = HINTS[tool] ?? "";
  showSteps();
}

function showSteps() {
  byId("tools").querySelector("[data-step=undo]").disabled = !boundary.canUndo;
  byId("tools").querySelector("[data-step=redo]").disabled = !boundary.canRedo;
}

const keep = () => kept.keepSoon(form());

/** What a message says of the work that is not saved. */
const isKept = () =>
  kept.keep(fieldsOf(form()))
    ? "Your work is kept in this browser."
    : "Your browser cannot keep this much: leave the page open, or copy the boundary’s text.";

/** Make the form work that is on the page: the first one, or one that came back. */
function prepareForm() {
  form().dataset.isReady = "yes";
  byId("text-tools").hidden = !map;
  offerRows(form());
  linkView();
  byId("geometry").addEventListener("change", () => map && loadText());
  byId("geometry").addEventListener("input", ({ inputType }) => {
    if (map && inputType === "insertFromPaste") loadText();
  });
  byId("text-tools").addEventListener("click", ({ target }) => {
    const { geometry } = boundary;
    if (!geometry || !target.dataset.text) return;
    byId("geometry").value = target.dataset.text === "wkt" ? toWkt(geometry) : JSON.stringify(geometry, null, 1);
  });
  form().addEventListener("input", keep);
  form().addEventListener("submit", () => {
    kept.submit();
    sent = boundary?.current;
  });
  byId("take-theirs")?.addEventListener("click", () => kept.drop());
}

/** Compare with what somebody else has saved, on the map. */
async function showConflict() {
  theirs?.remove();
  if (!map || !form().querySelector("[data-conflict]")) return;
  const saved = await load(`/projects/${project}/boundary`).catch(() => undefined);
  if (saved === undefined || JSON.stringify(saved) === JSON.stringify(boundary.geometry)) return;
  theirs = differenceLayer(saved, boundary.geometry).addTo(map);
  map.fitBounds(theirs.bounds, { padding: [24, 24], animate: false });
  byId("conflict-boundary").hidden = false;
}

let isAsked = false;

/** Before the form is sent, show what the check of the boundary asks. */
async function askFirst(event) {
  if (event.target !== form() || !map || isAsked) return;
  event.preventDefault();
  event.stopImmediatePropagation(); // htmx would send it
  const { submitter } = event;
  if (await report.asks()) return;
  setTimeout(() => { // within the event, it would be ignored
    isAsked = true;
    form().requestSubmit(submitter);
    isAsked = false;
  });
}

document.addEventListener("submit", askFirst, true);

let isTextOpen = false;
document.addEventListener("htmx:before:swap", () => (isTextOpen = form().querySelector(".as-text").open));
document.addEventListener("htmx:after:swap", async () => {
  kept.notSaved();
  if (form().dataset.isReady) return; // an error, after which the form stays
  form().querySelector(".as-text").open = isTextOpen || !map;
  prepareForm();
  if (map && isTextAhead) await loadText();
  else if (map) {
    if (boundary.current !== sent) fromMap(boundary.geometry); // drawn while the form was on its way
    report.check(byId("geometry").value);
  }
  showConflict();
  form().querySelector("[role=alert]")?.scrollIntoView({ block: "nearest" });
});
document.addEventListener("htmx:response:error", ({ detail }) => {
  kept.notSaved();
  const status = detail?.ctx?.response?.status;
  const page = new DOMParser().parseFromString(detail?.ctx?.text ?? "", "text/html");
  const refusal = page.querySelector(".lead")?.textContent; // the form itself has none
  if (status === 401) toast(`You are signed out. ${isKept()} Sign in again, then open this page.`, true);
  else if (status === 413) toast(`This is too large to be saved. ${isKept()}`, true);
  else if ((status === 403 || status === 422) && refusal) toast(`${refusal} ${isKept()}`, true);
  else if (status >= 500) toast(`This could not be saved. ${isKept()} Try again in a moment.`, true);
});
document.addEventListener("htmx:error", () => {
  kept.notSaved();
  toast(`No connection. ${isKept()} Save again when you are online.`, true);
});

addEventListener("online", () => {
  if (map && isTextAhead) loadText();
});

if (byId("map") && window.L?.PM) start();
prepareForm();
kept.offer((fields) => {
  fillIn(form(), fields);
  if (map) loadText();
});
