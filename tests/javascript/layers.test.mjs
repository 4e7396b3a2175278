// Features that a map loads for what it shows: what is asked for, whose answer counts, and what lies
// at a place.

import assert from "node:assert/strict";
import test from "node:test";

import { Page, plain, settle } from "./page.mjs";

const square = (id, west, south, side) => ({
  type: "Feature",
  id,
  properties: { id, status: "active" },
  geometry: {
    type: "Polygon",
    coordinates: [[[west, south], [west + side, south], [west + side, south + side], [west, south + side], [west, south]]],
  },
});
const dot = (id, ...coordinates) => ({ type: "Feature", id, properties: { id, status: "active" }, geometry: { type: "Point", coordinates } });
const collection = (...features) => ({ type: "FeatureCollection", features });

const page = new Page("", { path: "/projects", classics: ["leaflet.js", "geojson-vt.js"] });
const { ProjectsLayer } = await page.load("map/projects_layer.js");
const { ShapeLayer } = await page.load("map/shape_layer.js");
const { AssetsLayer } = await page.load("map/assets_layer.js");

/** A layer on a map of its own, and what it was told. */
function layerOn(Layer, address, answer, view = { center: [48, 8], zoom: 8 }) {
  const element = page.document.createElement("div");
  page.document.body.append(element);
  const map = page.window.L.map(element, view);
  const told = [];
  page.answer = answer;
  page.requests.length = 0;
  const layer = new Layer(map, address, (found, error) => told.push(error ? error.message : found.features.length));
  return { map, layer, told, at: (lat, lng) => layer.at(page.window.L.latLng(lat, lng))?.id ?? null };
}

test("a layer asks for what the map shows, with the filters of the list", async () => {
  const { layer, told } = layerOn(ProjectsLayer, "/projects/map?status=active&search=oak", () => [200, collection(square("a", 8, 48, 1))]);
  await layer.load();
  const [{ path, query }] = page.requests;
  assert.equal(path, "/projects/map");
  assert.deepEqual([query.status, query.search, query.zoom], ["active", "oak", "8"]);
  const [west, south, east, north] = query.bbox.split(",").map(Number);
  assert.ok(west < 8 && east > 8 && south < 48 && north > 48);
  assert.deepEqual(told, [1]);
  assert.equal(layer.find("a").id, "a");
  assert.equal(layer.find("b"), null);
});

test("showing all asks without a box, and moves the map to the box of the answer", async () => {
  const answer = { ...collection(dot("a", -60, -10)), bbox: [-61, -11, -56, -7] };
  const { map, layer } = layerOn(ProjectsLayer, "/projects/map", () => [200, answer]);
  await layer.showAll();
  assert.deepEqual(plain(page.requests[0].query), { zoom: "3" });
  assert.ok(map.getBounds().contains([[-11, -61], [-7, -56]]));
  assert.equal(page.requests.length, 2); // the map has moved
  answer.bbox = [179, -18, -178, -16]; // across the antimeridian
  await layer.showAll();
  assert.ok(map.getBounds().contains([[-18, 179], [-16, 182]]));
  assert.ok(map.getZoom() > 3);
});

test("an answer that comes after that to a later question does not count", async () => {
  const late = Promise.withResolvers();
  const answers = [late.promise, [200, collection(square("new", 8, 48, 1))]];
  const { layer, told } = layerOn(ProjectsLayer, "/projects/map", () => answers.shift());
  const first = layer.load();
  await layer.load();
  late.resolve([200, collection(square("old", 8, 48, 1), square("older", 8, 48, 1))]);
  await first;
  assert.deepEqual([layer.features.map(({ id }) => id), told], [["new"], [1]]);
});

test("what went wrong is told, and what the map had stays", async () => {
  const { layer, told } = layerOn(ProjectsLayer, "/projects/map", () => [200, collection(square("a", 8, 48, 1))]);
  await layer.load();
  page.answer = () => [503, { error: { message: "Others are loading." } }];
  await layer.load();
  page.answer = () => Promise.reject(new TypeError("Failed to fetch"));
  await layer.load();
  assert.deepEqual(told, [1, "Others are loading.", "Failed to fetch"]);
  assert.ok(layer.find("a"));
});

test("the smallest of several projects is the one at a place", async () => {
  const all = collection(square("forest", 8, 48, 2), square("grove", 8.5, 48.5, 0.2), dot("far", 11, 49)); // the largest first
  const { layer, at } = layerOn(ProjectsLayer, "/projects/map", () => [200, all]);
  await layer.load();
  assert.deepEqual([at(48.6, 8.6), at(48.1, 8.1), at(47.9, 8.1)], ["grove", "forest", null]);
  assert.equal(at(48.1, 8.1 + 360), "forest"); // a map that was moved around the world
  assert.deepEqual([at(49.005, 11.005), at(49.2, 11)], ["far", null]);
});

test("the nearest asset within reach is the one at a place", async () => {
  const all = collection(dot("one", 8, 48), dot("two", 8.02, 48));
  const { layer, at } = layerOn(AssetsLayer, "/assets/map", () => [200, all]);
  await layer.load();
  assert.deepEqual([at(48, 8.004), at(48, 8.018), at(48.002, 8.1)], ["one", "two", null]);
  assert.equal(at(48, 368.018), "two");
});

test("tiles that wait are drawn one after the other", async () => {
  const { layer, map } = layerOn(ProjectsLayer, "/projects/map", () => [200, collection(square("a", 7, 47, 2))]);
  await layer.load();
  let isPainted = false;
  layer.tiles.whenPainted(() => (isPainted = true));
  assert.ok(!isPainted);
  await page.clock.pass(1);
  await settle();
  assert.ok(isPainted);
  const called = [...map.getContainer().querySelectorAll("canvas")].flatMap((canvas) => canvas.getContext("2d").called);
  assert.ok(called.some(([name, , rule]) => name === "fill" && rule === "evenodd"));
});

test("a tile that cannot be drawn does not keep the others waiting", async () => {
  const { layer } = layerOn(ProjectsLayer, "/projects/map", () => [200, collection()]);
  let isPainted = false;
  layer.tiles.whenPainted(() => Promise.reject(new Error("Not this one.")));
  layer.tiles.whenPainted(() => (isPainted = true));
  await page.clock.pass(1);
  assert.ok(isPainted);
  assert.deepEqual(page.problems.map(({ message }) => message), ["Not this one."]);
});

/** The names on a map that shows some features, each with its middle in pixels. */
function namesOf(features, view) {
  const element = page.document.createElement("div");
  page.document.body.append(element);
  const map = page.window.L.map(element, view);
  new ShapeLayer(map, () => {}, { hasNames: true }).show(collection(...features));
  const found = [...element.querySelectorAll(".shape-name")];
  return Object.fromEntries(found.map(({ textContent, style }) => [textContent, [style.left, style.top, style.maxWidth].map(parseFloat)]));
}
const named = (feature, name) => ({ ...feature, properties: { name } });
const NEAR = { center: [48.5, 8.5], zoom: 9 }; // 1 degree is 364 pixels

test("names stand inside shapes that have room for them", () => {
  const long = "x".repeat(100);
  const hollow = square("c", 8.1, 48.1, 0.8);
  hollow.geometry.coordinates[0].splice(2, 0, [8.3, 48.5]); // no room in the middle
  const names = namesOf([named(square("a", 7.4, 48.2, 0.6), "Wood"), named(square("b", 9.1, 48.2, 0.5), long), named(hollow, "عابرة")], NEAR);
  assert.deepEqual(Object.keys(names).sort(), ["Wood", long, "عابرة"].sort());
  assert.deepEqual(names.Wood.map(Math.round), [109, 300, 36]);
  assert.equal(names[long][2], 182); // the room inside, cut off by an ellipsis
  assert.ok(names["عابرة"][0] < 400);
});

test("names cover no other, and the largest shape comes first", () => {
  const names = namesOf([named(square("a", 8, 48, 1), "Forest"), named(square("b", 8.4, 48.4, 0.2), "Grove")], NEAR);
  assert.deepEqual(Object.keys(names), ["Forest"]);
});

test("names stand beside small shapes where that covers no shape, if there are few", () => {
  const pair = [named(dot("a", 8.4, 48.5), "Left"), named(dot("b", 8.45, 48.5), "Right")];
  const names = namesOf(pair, NEAR);
  assert.ok(names.Left[0] < names.Right[0] - 40);
  assert.equal(Object.keys(namesOf([...pair, dot("c", 8.3, 48.5), dot("d", 8.55, 48.5)].map((each) => named(each, each.properties.name ?? "")), NEAR)).length, 0);
  const many = Array.from({ length: 101 }, (_, number) => named(dot(`${number}`, 7.5 + number / 50, 48.2 + (number % 7) / 10), "Post"));
  assert.deepEqual(namesOf(many, NEAR), {});
});

test("names are on the side of the world that the map shows", () => {
  const names = namesOf([named(square("a", -179.9, 10, 1), "Fiji")], { center: [10.5, 179.9], zoom: 8 });
  assert.ok(names.Fiji[0] > 400);
});
