// Coordinates as people write them. The server reads the same cases: tests/formats/readers/test_places.py.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { readDegrees, readPlace } from "../../app/site/static/js/coordinates.js";

const CASES = JSON.parse(readFileSync(new URL("../formats/readers/places.json", import.meta.url), "utf8"));

function assertSame(read, expected, text) {
  const isSame = expected === null ? read === null : read !== null && expected.every((value, n) => Math.abs(read[n] - value) < 1e-8);
  assert.ok(isSame, `${JSON.stringify(text)}: ${read}, not ${expected}`);
}

test("degrees are read as the server reads them", () => {
  for (const [text, axis, degrees] of CASES.degrees) {
    const read = readDegrees(text, axis);
    assertSame(read === null ? null : [read], degrees === null ? null : [degrees], text);
  }
});

test("places are read as the server reads them", () => {
  for (const [text, place] of CASES.places) assertSame(readPlace(text), place, text);
});

test("a long text takes no time", () => {
  for (const repeated of [" ", "1 ", "N,a", "1"]) assert.equal(readPlace(repeated.repeat(100_000)), null);
});
