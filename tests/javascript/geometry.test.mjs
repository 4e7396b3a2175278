// What the scripts compute of GeoJSON geometries and of the part of the world that a map shows.

import assert from "node:assert/strict";
import test from "node:test";

import { toWkt } from "../../app/site/static/js/editor/wkt.js";
import { boxAround, boxOfGeometry, covers } from "../../app/site/static/js/map/shapes.js";
import { boxOfView } from "../../app/site/static/js/map/view.js";

const square = (west, south, side) => [
  [west, south], [west + side, south], [west + side, south + side], [west, south + side], [west, south],
];
const HOLED = { type: "Polygon", coordinates: [square(0, 0, 10), square(4, 4, 2)] };
const TWO = { type: "MultiPolygon", coordinates: [HOLED.coordinates, [square(20, -5, 2)]] };

test("a polygon covers what is in it, but not its holes", () => {
  assert.ok(covers(HOLED, 1, 1));
  assert.ok(covers(HOLED, 9.999, 5));
  assert.ok(!covers(HOLED, 5, 5));
  assert.ok(!covers(HOLED, 10.001, 5));
  assert.ok(!covers(HOLED, 5, -1));
});

test("a multipolygon covers what one of its parts covers", () => {
  assert.ok(covers(TWO, 21, -4));
  assert.ok(covers(TWO, 1, 1));
  assert.ok(!covers(TWO, 5, 5));
  assert.ok(!covers(TWO, 15, 1));
});

test("a place beside a concave corner is outside", () => {
  const ring = [[0, 0], [4, 0], [4, 4], [2, 1], [0, 4], [0, 0]];
  const shape = { type: "Polygon", coordinates: [ring] };
  assert.ok(!covers(shape, 2, 2));
  assert.ok(covers(shape, 2, 0.5));
  assert.ok(covers(shape, 2, 1 - 1e-9)); // on the height of a corner nearly, and at it:
  assert.ok(covers(shape, 0.5, 1));
});

test("a point covers what is within its reach", () => {
  const point = { type: "Point", coordinates: [8, 48] };
  assert.ok(covers(point, 8.1, 47.9, 0.11));
  assert.ok(!covers(point, 8.1, 48, 0.05));
  assert.ok(covers(point, 8, 48));
});

test("lines, several points and collections cover what is within their reach", () => {
  const line = { type: "LineString", coordinates: [[8, 48], [9, 48], [9, 48]] };
  const lines = { type: "MultiLineString", coordinates: [[[0, 0], [1, 1]], line.coordinates] };
  const points = { type: "MultiPoint", coordinates: [[0, 0], [8.5, 48]] };
  for (const each of [line, lines, points, { type: "GeometryCollection", geometries: [points, line] }]) {
    assert.ok(covers(each, 8.5, 48.1, 0.11), each.type);
    assert.ok(!covers(each, 8.5, 48.2, 0.11) && !covers(each, 9.2, 48, 0.11), each.type);
  }
  assert.deepEqual(boxOfGeometry({ type: "GeometryCollection", geometries: [line, points] }), [0, 0, 9, 48]);
});

test("the box around features crosses the antimeridian if it is narrower so", () => {
  const at = (...coordinates) => ({ geometry: { type: "Point", coordinates } });
  assert.equal(boxAround([]), null);
  assert.deepEqual(boxAround([at(179, 1), at(-178, 2)]), [179, 1, 182, 2]);
  assert.deepEqual(boxAround([at(10, 1), at(-8, 2)]), [-8, 1, 10, 2]);
  const many = Array.from({ length: 150_000 }, (_, number) => at(number / 1000, 0)); // takes no stack
  assert.deepEqual(boxAround(many), [0, 0, 149.999, 0]);
});

test("boxes are those of all positions", () => {
  assert.deepEqual(boxOfGeometry({ type: "Point", coordinates: [8, 48] }), [8, 48, 8, 48]);
  assert.deepEqual(boxOfGeometry(TWO), [0, -5, 22, 10]);
});

test("boundaries as WKT", () => {
  assert.equal(
    toWkt({ type: "Polygon", coordinates: [[[0, 0], [1.5, 0], [1, -1], [0, 0]]] }),
    "POLYGON ((0 0, 1.5 0, 1 -1, 0 0))",
  );
  assert.equal(
    toWkt({ type: "MultiPolygon", coordinates: [[[[0, 0], [1, 0], [1, 1], [0, 0]], [[5, 5], [6, 5], [6, 6], [5, 5]]], [[[7, 7], [8, 7], [8, 8], [7, 7]]]] }),
    "MULTIPOLYGON (((0 0, 1 0, 1 1, 0 0), (5 5, 6 5, 6 6, 5 5)), ((7 7, 8 7, 8 8, 7 7)))",
  );
});

/** A map that shows a part of the world. */
function showing(west, south, east, north) {
  const bounds = {
    getWest: () => west, getEast: () => east, getSouth: () => south, getNorth: () => north,
    pad: (margin) => {
      const [x, y] = [(east - west) * margin, (north - south) * margin];
      return showing(west - x, south - y, east + x, north + y).getBounds();
    },
  };
  return { getBounds: () => bounds };
}

test("what a map shows is a box within the world", () => {
  assert.equal(boxOfView(showing(7.5, 47, 8.25, 48)), "7.5000,47.0000,8.2500,48.0000");
  assert.equal(boxOfView(showing(0, 0, 10, 10), 0.1), "-1.0000,-1.0000,11.0000,11.0000");
  assert.equal(boxOfView(showing(0, -95, 10, 95)), "0.0000,-90.0000,10.0000,90.0000");
});

test("a map that was moved around the world shows the same box", () => {
  assert.equal(boxOfView(showing(367.5, 47, 368.25, 48)), "7.5000,47.0000,8.2500,48.0000");
  assert.equal(boxOfView(showing(-712.5, 47, -711.75, 48)), "7.5000,47.0000,8.2500,48.0000");
});

test("a box across the antimeridian has its west east of its east", () => {
  assert.equal(boxOfView(showing(170, -20, 190, -10)), "170.0000,-20.0000,-170.0000,-10.0000");
  assert.equal(boxOfView(showing(-190, -20, -170, -10)), "170.0000,-20.0000,-170.0000,-10.0000");
});

test("the whole world is no filter", () => {
  assert.equal(boxOfView(showing(-180, -90, 180, 90)), "");
  assert.equal(boxOfView(showing(-300, -80, 300, 80)), "");
  assert.equal(boxOfView(showing(-100, -50, 100, 50), 0.5), "");
});
