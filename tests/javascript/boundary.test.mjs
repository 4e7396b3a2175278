// The boundary that is drawn, on a map of Leaflet with the tools of Geoman: its parts, undo and redo.

import assert from "node:assert/strict";
import test from "node:test";

import { Page, plain } from "./page.mjs";

const ring = (west, south, side = 1) => [
  [west, south], [west + side, south], [west + side, south + side], [west, south],
];
const ONE = { type: "Polygon", coordinates: [ring(8, 48)] };
const HOLED = { type: "Polygon", coordinates: [ring(8, 48), ring(8.5, 48.1, 0.1)] };
const TWO = { type: "MultiPolygon", coordinates: [[ring(8, 48)], [ring(10, 50)]] };

const page = new Page("", { classics: ["leaflet.js", "leaflet-geoman.min.js"] });
const { Boundary } = await page.load("editor/boundary.js");

/** A boundary on a map of its own. */
function drawing(geometry = null) {
  const element = page.document.createElement("div");
  page.document.body.append(element);
  const map = page.window.L.map(element, { center: [48, 8], zoom: 8 });
  const [changes, drawn, tools] = [[], [], []];
  map.on("toolchange", ({ tool }) => tools.push(tool));
  const boundary = new Boundary(map, (each) => changes.push(plain(each)), (each) => drawn.push(plain(each)));
  boundary.begin(geometry);
  const click = (x, y) => {
    const { L, MouseEvent } = page.window;
    map.fire("click", {
      latlng: map.containerPointToLatLng([x, y]),
      layerPoint: map.containerPointToLayerPoint([x, y]),
      containerPoint: L.point(x, y),
      originalEvent: new MouseEvent("click"),
    });
  };
  return { map, boundary, changes, drawn, tools, click, shape: () => plain(boundary.geometry) };
}

test("a boundary comes back as it was, with holes and parts", () => {
  for (const geometry of [null, ONE, HOLED, TWO]) {
    const { shape, changes, boundary } = drawing(geometry);
    assert.deepEqual(shape(), geometry);
    assert.deepEqual(changes, []);
    assert.ok(!boundary.canUndo && !boundary.canRedo);
  }
});

test("a multipolygon of one part becomes a polygon", () => {
  const { shape } = drawing({ type: "MultiPolygon", coordinates: [HOLED.coordinates] });
  assert.deepEqual(shape(), HOLED);
});

test("positions keep nine decimals", () => {
  const fine = { type: "Polygon", coordinates: [[[8.123456789, 48.987654321], [9, 48], [9, 49], [8.123456789, 48.987654321]]] };
  assert.deepEqual(drawing(fine).shape(), fine);
});

test("each change is told, and can be undone and redone", () => {
  const { boundary, changes, shape } = drawing(ONE);
  boundary.set(HOLED);
  boundary.set(TWO);
  boundary.undo();
  boundary.undo();
  assert.ok(!boundary.canUndo);
  boundary.redo();
  assert.deepEqual(shape(), HOLED);
  assert.ok(boundary.canUndo && boundary.canRedo);
  assert.deepEqual(changes, [HOLED, TWO, HOLED, ONE, HOLED]);
});

test("undoing at the beginning, and redoing at the end, change nothing", () => {
  const { boundary, changes, shape } = drawing(ONE);
  boundary.undo();
  boundary.redo();
  assert.deepEqual([shape(), changes], [ONE, []]);
});

test("the first boundary can be undone to none", () => {
  const { boundary, changes } = drawing();
  boundary.set(ONE);
  boundary.undo();
  assert.deepEqual(changes, [ONE, null]);
});

test("a change after undoing ends what could be redone", () => {
  const { boundary, shape } = drawing(ONE);
  boundary.set(HOLED);
  boundary.undo();
  boundary.set(TWO);
  assert.ok(!boundary.canRedo);
  boundary.undo();
  assert.deepEqual(shape(), ONE);
});

test("setting what is there is no change", () => {
  const { boundary, changes } = drawing(ONE);
  boundary.set(ONE);
  assert.deepEqual(changes, []);
  assert.ok(!boundary.canUndo);
});

test("beginning anew forgets what could be undone", () => {
  const { boundary } = drawing(ONE);
  boundary.set(TWO);
  boundary.begin(HOLED);
  assert.ok(!boundary.canUndo && !boundary.canRedo);
});

test("a part that is drawn is told while it is drawn, and added to the others", () => {
  const { map, boundary, changes, drawn, shape, click } = drawing(ONE);
  boundary.use("draw");
  for (const place of [[100, 100], [200, 100]]) click(...place);
  assert.deepEqual(drawn, []); // two corners are no part yet
  click(200, 200);
  assert.equal(drawn.length, 1);
  assert.deepEqual(drawn[0].coordinates[0], ONE.coordinates);
  assert.equal(drawn[0].coordinates[1][0].length, 4); // closed
  assert.deepEqual(changes, []);
  map.pm.Draw.Polygon._finishShape();
  assert.equal(shape().type, "MultiPolygon");
  assert.equal(shape().coordinates.length, 2);
  assert.equal(changes.length, 1);
  assert.equal(boundary.tool, null);
});

test("undoing while drawing takes back a corner, not the change before", () => {
  const { boundary, shape, click } = drawing(ONE);
  boundary.set(TWO);
  boundary.use("draw");
  assert.ok(!boundary.canUndo);
  click(100, 100);
  click(200, 100);
  assert.ok(boundary.canUndo);
  boundary.undo();
  assert.equal(boundary.drawing.getLatLngs().length, 1);
  assert.deepEqual(shape(), TWO);
});

test("giving up a part tells what there is without it", () => {
  const { boundary, drawn, click } = drawing(ONE);
  boundary.use("draw");
  for (const place of [[100, 100], [200, 100], [200, 200]]) click(...place);
  boundary.use(null);
  assert.deepEqual(drawn.at(-1), ONE);
  boundary.use(null);
  assert.equal(drawn.length, 2); // told once
});

test("a tool that is taken twice is put down, and none is taken while they are locked", () => {
  const { boundary, tools } = drawing(ONE);
  boundary.use("edit");
  boundary.use("edit");
  boundary.isLocked = true;
  boundary.use("draw");
  assert.deepEqual(tools, ["edit", null, null]);
  boundary.isLocked = false;
  boundary.use("drag");
  boundary.use("remove");
  assert.equal(boundary.tool, "remove");
  assert.ok(!boundary.map.pm.globalDragModeEnabled());
});

test("undoing keeps the tool at hand", () => {
  const { boundary, shape } = drawing(ONE);
  boundary.set(TWO);
  boundary.use("edit");
  boundary.undo();
  assert.equal(boundary.tool, "edit");
  assert.deepEqual(shape(), ONE);
});

test("a part that is removed is gone, and can be undone", () => {
  const { map, boundary, shape, changes } = drawing(TWO);
  boundary.use("remove");
  const [first] = boundary.parts.getLayers();
  first.remove();
  map.fire("pm:remove", { layer: first });
  assert.deepEqual(shape(), { type: "Polygon", coordinates: [ring(10, 50)] });
  boundary.undo();
  assert.deepEqual(shape(), TWO);
  assert.equal(changes.length, 2);
});

test("a corner that is moved is a change", () => {
  const { boundary, shape, changes } = drawing(ONE);
  const [part] = boundary.parts.getLayers();
  const corners = part.getLatLngs();
  corners[0][1].lng = 9.5;
  part.setLatLngs(corners).fire("pm:edit");
  assert.deepEqual(shape().coordinates[0][1], [9.5, 48]);
  boundary.undo();
  assert.deepEqual(shape(), ONE);
  assert.equal(changes.length, 2);
});

test("a part without three corners is left out", () => {
  const { boundary, shape } = drawing(TWO);
  const [part] = boundary.parts.getLayers();
  part.setLatLngs([[[48, 8], [49, 9]]]).fire("pm:edit");
  assert.deepEqual(shape(), { type: "Polygon", coordinates: [ring(10, 50)] });
});
