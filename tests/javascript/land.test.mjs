// The worker that cuts land into tiles and knows the names of countries, and going to one of them.

import assert from "node:assert/strict";
import test from "node:test";
import vm from "node:vm";

import { classic, Page, settle, source } from "./page.mjs";

const OPTIONS = { maxZoom: 4, indexMaxZoom: 1, extent: 4096, tolerance: 3 };

/** The worker, and what it has posted. answer: what its file is loaded with. */
function worker(answer) {
  const posted = [];
  const scope = vm.createContext({ fetch: answer, postMessage: (message) => posted.push(message) });
  scope.self = scope;
  scope.importScripts = (...paths) =>
    paths.forEach((path) => classic(path.replace("../../", "")).runInContext(scope));
  vm.runInContext(source("js/map/land_worker.js"), scope);
  return { scope, posted, ask: (data) => scope.onmessage({ data }) };
}

const RING = [[0, 0], [40, 0], [40, 40], [0, 40], [0, 0]];
const object = (geometry) => ({ type: "GeometryCollection", geometries: [geometry] });
/** A world of one country. */
const SMALL = {
  type: "Topology",
  arcs: [RING],
  objects: {
    land: object({ type: "MultiPolygon", arcs: [[[0]]] }),
    countries: object({ type: "Polygon", arcs: [[0]], properties: { name: "Eq. Island" } }),
  },
};

const land = worker(async () => Response.json(SMALL));
const countries = [...land.scope.countriesOf(JSON.parse(source("third_party/countries-50m.json")))];
const named = (name) => countries.find((each) => each.name === name);

test("countries have names in full, and boxes of their largest part", () => {
  assert.ok(countries.length > 200);
  for (const name of ["Brazil", "Germany", "Central African Republic", "Bosnia and Herzegovina"]) assert.ok(named(name), name);
  for (const { name, place, box } of countries) {
    assert.ok(!/(^|\s)\w+\.(\s|$)/.test(name), `${name} is shortened`);
    const [west, south, east, north] = box;
    assert.ok(west < east && south < north && south >= -90 && north <= 90, name);
    assert.ok(place[0] >= south && place[0] <= north && place[1] >= west && place[1] <= east, name);
  }
  const [west, south, east, north] = named("Germany").box;
  assert.ok(west > 5 && east < 16 && south > 47 && north < 55.5);
});

test("a country across the antimeridian is one piece", () => {
  const [west, , east] = named("Russia").box;
  assert.ok(east > 180 && east - west < 200, `${west} to ${east}`);
  const fiji = named("Fiji").box;
  assert.ok(fiji[2] - fiji[0] < 10);
});

test("rings go on past the antimeridian, and around the pole", () => {
  const { unwrapped } = land.scope;
  const across = [[170, 0], [-170, 0], [-170, 10], [170, 10], [170, 0]];
  assert.deepEqual([...unwrapped(across)].map(([x]) => x), [170, 190, 190, 170, 170]);
  assert.deepEqual([...unwrapped(across.toReversed())].map(([x]) => x), [170, 170, 190, 190, 170]);
  const pole = [[-180, -70], [-60, -70], [60, -70], [180, -70], [-180, -70]];
  const around = [...unwrapped(pole)].map((position) => [...position]);
  assert.deepEqual(around.slice(-3), [[180, -90], [-180, -90], [-180, -70]]);
  const plain = [[8, 48], [9, 48], [9, 49], [8, 48]];
  assert.deepEqual([...unwrapped(plain)].map((position) => [...position]), plain);
});

test("the largest part is measured whichever way it turns", () => {
  const square = [[0, 0], [4, 0], [4, 2], [0, 2], [0, 0]];
  for (const ring of [square, square.toReversed()]) {
    const { area, middle } = land.scope.measured(ring);
    assert.deepEqual([area, ...middle], [16, 2, 1]);
  }
});

test("tiles are answered by their numbers, once the file is there", async () => {
  await land.ask({ load: "countries", options: OPTIONS });
  assert.deepEqual(JSON.parse(JSON.stringify(land.posted)), [
    { countries: [{ name: "Equatorial Island", place: [20, 20], box: [0, 0, 40, 40] }] },
  ]);
  await land.ask({ number: 7, tile: [1, 1, 0] });
  const { number, features } = land.posted.at(-1);
  assert.equal(number, 7);
  assert.ok(features.length > 0);
  await land.ask({ number: 8, tile: [99, 1, 0] });
  assert.deepEqual([land.posted.at(-1).number, land.posted.at(-1).features.length], [8, 0]);
});

test("without its file, a map has no land, and goes on", async () => {
  for (const answer of [() => Promise.reject(new TypeError("Failed")), async () => new Response("", { status: 404 })]) {
    const { ask, posted } = worker(answer);
    await ask({ load: "countries", options: OPTIONS });
    await ask({ number: 1, tile: [0, 0, 0] });
    assert.equal(posted[0].countries.length, 0);
    assert.equal(posted[1].features.length, 0);
  }
});

const page = new Page('<div id="map"></div>', { classics: ["leaflet.js"] });
const { placeButton } = await page.load("map/places.js");
const map = page.window.L.map("map", { center: [0, 0], zoom: 2 });
map.countries = Promise.resolve(countries);
placeButton(map);

async function goTo(text) {
  map.setView([0, 0], 2, { animate: false });
  const before = page.toasts.length;
  page.find(".go-to input").value = text;
  page.fire(page.find(".go-to"), "submit");
  await settle();
  return page.toasts.length === before ? map.getCenter() : null;
}

test("coordinates are found in each form in which people copy them", async () => {
  for (const text of [
    "48.5, 8.2", "48.5,8.2", "48.5 8.2", "48,5; 8,2", "48,5 8,2", "48,5, 8,2", "48°30'N 8°12'E", "48° 30' N 8° 12' E", "N 48.5, E 8.2",
  ]) {
    const found = await goTo(text);
    assert.ok(found && Math.hypot(found.lat - 48.5, found.lng - 8.2) < 0.001, `${text}: ${found}`);
  }
});

test("countries are found by their names, without accents, and by parts of them", async () => {
  for (const [text, name] of [
    ["Brazil", "Brazil"], ["brazil ", "Brazil"], ["Côte d'Ivoire", "Côte d'Ivoire"], ["cote d ivoire", "Côte d'Ivoire"],
    ["the Netherlands", "Netherlands"], ["Niger", "Niger"], ["Nigeri", "Nigeria"], ["Republic Dominican", "Dominican Republic"],
  ]) {
    const found = await goTo(text);
    const [west, south, east, north] = named(name).box;
    const middle = page.window.L.latLngBounds([[south, west], [north, east]]);
    assert.ok(found && middle.contains(found), `${text}: ${found}`);
  }
});

test("what is no place is said", async () => {
  for (const text of ["", "the", "Atlantis", "91, 8", "48.5", "48.5, 8.2, 3"]) assert.equal(await goTo(text), null, text);
  assert.match(page.toasts.at(-1), /^No such place\. Type a country, or latitude and longitude/);
});
