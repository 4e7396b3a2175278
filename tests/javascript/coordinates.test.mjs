// Coordinates as people write them. The server reads the same cases: tests/pages/test_coordinates.py.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { readDegrees, splitBoth } from "../../app/site/static/js/coordinates.js";

const CASES = JSON.parse(readFileSync(new URL("../pages/coordinates.json", import.meta.url), "utf8"));

test("degrees are read as the server reads them", () => {
  for (const [text, axis, degrees] of CASES.degrees) {
    const read = readDegrees(text, axis);
    const isSame = degrees === null ? read === null : Math.abs(read - degrees) < 1e-8;
    assert.ok(isSame, `${axis} ${JSON.stringify(text)}: ${read}, not ${degrees}`);
  }
});

test("both are split as the server splits them", () => {
  for (const [text, both] of CASES.both) assert.deepEqual(splitBoth(text), both, JSON.stringify(text));
});
