// The worker that loads the tiles of the map and cuts them.

import assert from "node:assert/strict";
import test from "node:test";
import vm from "node:vm";

import { classic, source } from "./page.mjs";

const OPTIONS = { maxZoom: 14, indexMaxZoom: 1, extent: 4096, tolerance: 3 };
const HALF = 16384; // of the side of a tile

/** What bin/_map_data.py writes: land in the east of the world, a river and towns in one tile of it. */
const FILES = {
  "index.json": {
    levels: { 2: "0040", 5: (1n << (17n * 32n + 11n)).toString(16).padStart(256, "0"), 7: "0".repeat(4096) },
    countries: [["Island", [45, 90], [0, 0, 180, 85]]],
  },
  "0/0/0.json": { land: [[HALF, 0, HALF, 0, 0, HALF, -HALF, 0, 0, -HALF]] },
  "2/1/2.json": { towns: [["Large", 3, HALF, HALF]] },
  "5/17/11.json": { rivers: [[0, 0, HALF, HALF, HALF, HALF]], towns: [["Large", 3, 100, 100], ["Small", 8, HALF, HALF]] },
};

/** The worker, and what it has loaded. */
function worker(files) {
  const loaded = [];
  const waiting = new Map();
  const fetch = async (address) => {
    const name = address.replace("/map/", "");
    loaded.push(name);
    return files[name] ? Response.json(files[name]) : new Response("", { status: 404 });
  };
  const scope = vm.createContext({ fetch, postMessage: ({ number, answer }) => waiting.get(number)(answer) });
  scope.self = scope;
  scope.importScripts = (...paths) =>
    paths.forEach((path) => classic(path.replace("../../", "")).runInContext(scope));
  vm.runInContext(source("js/map/land_worker.js"), scope);
  scope.onmessage({ data: { load: { base: "/map/", options: OPTIONS } } });
  const ask = (ask, ...given) =>
    new Promise((resolve) => {
      waiting.set(waiting.size, (answer) => resolve(JSON.parse(JSON.stringify(answer))));
      scope.onmessage({ data: { number: waiting.size - 1, ask, given } });
    });
  return { ask, loaded };
}

test("small scales are cut out of one file, others out of the files there", async () => {
  const { ask, loaded } = worker(FILES);
  const [land] = await ask("shapes", 1, 1, 0);
  assert.deepEqual([land.type, land.tags.kind], [3, "land"]);
  assert.deepEqual(await ask("shapes", 2, 1, 3), []);
  const [river] = await ask("shapes", 9, 17 * 16 + 8, 11 * 16 + 8);
  assert.deepEqual([river.type, river.tags.kind], [2, "rivers"]);
  assert.deepEqual(await ask("shapes", 9, 17 * 16 + 8, 11 * 16 + 1), []);
  assert.deepEqual(await ask("shapes", 9, 0, 0), []); // sea, of which there is no file
  assert.deepEqual(loaded, ["index.json", "0/0/0.json", "5/17/11.json"]);
});

test("towns are those in the view, from their zoom on, also beyond the antimeridian", async () => {
  const { ask } = worker(FILES);
  const names = async (...given) => (await ask("towns", ...given)).map(({ name }) => name);
  const [west, south, east, north] = [11.25, 40, 22.5, 48.9];
  assert.deepEqual(await names(7, [west, south, east, north]), ["Large"]);
  assert.deepEqual(await names(8, [west, south, east, north]), ["Large", "Small"]);
  assert.deepEqual(await names(8, [16, south, east, north]), ["Small"]);
  const [town] = await ask("towns", 8, [west + 360, south, east + 360, north]);
  assert.ok(Math.abs(town.place[0] - 371.28) < 0.01, town.place);
});

test("a file that does not come is asked for again; without any, nothing is known", async () => {
  const files = { "index.json": FILES["index.json"] };
  const { ask, loaded } = worker(files);
  assert.equal(await ask("shapes", 1, 1, 0), null);
  files["0/0/0.json"] = FILES["0/0/0.json"];
  assert.equal((await ask("shapes", 1, 1, 0)).length, 1);
  assert.equal(loaded.length, 3);
  const none = worker({});
  assert.deepEqual([await none.ask("shapes", 8, 1, 1), await none.ask("towns", 8, [0, 0, 1, 1])], [null, []]);
  assert.deepEqual([await none.ask("countries"), none.loaded], [[], ["index.json"]]);
});
