// What the server says of a boundary while it is drawn: the last one asked for is the one that is shown.

import assert from "node:assert/strict";
import test from "node:test";

import { Page, plain } from "./page.mjs";

const BODY = '<div id="map"></div><div id="report"></div><form id="editor-form"><input name="csrf_token" value="t"></form>';
const VALID = { problems: [], warnings: [], area_hectares: 12.345, where: "In Chad", question: null, overlaps: [], complete: true };

async function reporting(answer) {
  const page = new Page(BODY, { path: "/projects/new", answer, classics: ["leaflet.js"] });
  const { Report } = await page.load("editor/report.js");
  const map = page.window.L.map("map", { center: [48, 8], zoom: 8 });
  const used = [];
  const report = new Report(map, "proj_1", (geometry) => used.push(plain(geometry)));
  return { page, map, report, used, box: page.byId("report") };
}

test("only the last of several quick changes is sent", async () => {
  const { page, report, box } = await reporting(() => [200, { data: VALID }]);
  const answers = [report.check("one"), report.check("two"), report.check("three")];
  assert.ok(box.classList.contains("is-old"));
  await page.clock.pass(300);
  const [one, two, three] = await Promise.all(answers);
  assert.deepEqual([one, two, three.area_hectares], [null, null, 12.345]);
  const [{ path, options }, ...others] = page.requests;
  assert.equal(path, "/projects/check");
  assert.equal(options.headers["X-CSRFToken"], "t");
  assert.deepEqual([...options.body], [["geometry", "three"], ["project_id", "proj_1"]]);
  assert.equal(others.length, 0);
  assert.match(box.textContent, /^12.35 haIn ChadValid, and overlaps with no other project/);
  assert.ok(!box.classList.contains("is-old"));
});

test("a late answer to an earlier boundary is not shown", async () => {
  const late = Promise.withResolvers();
  const first = () => late.promise;
  const answers = [first, () => [200, { data: { ...VALID, area_hectares: 2 } }]];
  const { page, report, box } = await reporting(() => answers.shift()());
  const one = report.check("one");
  await page.clock.pass(300);
  const two = report.check("two");
  await page.clock.pass(300);
  late.resolve([200, { data: { ...VALID, area_hectares: 1 } }]);
  assert.equal(await one, null);
  assert.equal((await two).area_hectares, 2);
  assert.match(box.textContent, /^2\.00 ha/);
});

test("a busy server is asked again", async () => {
  const answers = [[503, { error: { message: "Others are comparing." } }], [200, { data: VALID }]];
  const { page, report, box } = await reporting(() => answers.shift());
  const checked = report.check("one");
  await page.clock.pass(300);
  assert.equal(box.textContent, "Others are comparing.");
  await page.clock.pass(1200);
  assert.equal((await checked).area_hectares, 12.345);
  assert.match(box.textContent, /^12.35 ha/);
});

test("a busy server is not asked again about a boundary that has changed", async () => {
  const answers = [[503, { error: { message: "Busy." } }], [200, { data: VALID }]];
  const { page, report } = await reporting(() => answers.shift());
  const one = report.check("one");
  await page.clock.pass(300);
  report.check("two");
  await page.clock.pass(5000);
  assert.equal(await one, null);
  assert.deepEqual(page.requests.map(({ options }) => options.body.get("geometry")), ["one", "two"]);
});

test("what the server refuses is said, and so is a lost connection", async () => {
  const refused = await reporting(() => [403, { error: { message: "Your role has changed." } }]);
  refused.report.check("one");
  await refused.page.clock.pass(300);
  assert.equal(refused.box.textContent, "Your role has changed.");
  const lost = await reporting(() => {
    throw new TypeError("Failed to fetch");
  });
  lost.report.check("one");
  await lost.page.clock.pass(300);
  assert.match(lost.box.textContent, /^No connection.*Your work is kept/);
});

test("faults are listed, and shown on the map", async () => {
  const { map, report, page, box } = await reporting(() => [404, {}]);
  const problems = [{ message: "It crosses itself.", coordinates: [8.2, 48.5] }, { message: "It is <b>too large</b>." }];
  report.show({ problems, area_hectares: null, overlaps: [] }, "text");
  assert.equal(report.faults.getLayers().length, 1);
  assert.ok(map.getContainer().classList.contains("has-faults"));
  assert.match(box.textContent, /It crosses itself\. 48\.50000°\sN 8\.20000°\sE Show it/);
  assert.equal(box.querySelector("b"), null);
  page.find("#report button").click();
  assert.deepEqual([map.getCenter().lat, map.getCenter().lng], [48.5, 8.2]);
  report.show(VALID, "text");
  assert.equal(report.faults.getLayers().length, 0);
  assert.ok(!map.getContainer().classList.contains("has-faults"));
});

test("overlaps say with what and how much, and that not all were compared", async () => {
  const { report, box } = await reporting(() => [404, {}]);
  const overlaps = [{ project_id: "proj_2", name: "<img src=x>", overlap_hectares: 0.5, share: 0.1234 }];
  report.show({ ...VALID, overlaps, complete: false }, "text");
  assert.match(box.textContent, /but overlaps with:<img src=x> by 0\.5000 ha \(12\.3%\)/);
  assert.equal(box.querySelector("a").getAttribute("href"), "/projects/proj_2");
  assert.equal(box.querySelector("img"), null);
  report.show({ ...VALID, complete: false }, "text");
  assert.match(box.textContent, /Valid\.$/);
});

test("a boundary in an unexpected place is asked about until it is right or swapped", async () => {
  const { report, box, page, used } = await reporting(() => [404, {}]);
  const coordinates = [[[[46.6, 23.9, 7], [46.7, 23.9, 7], [46.6, 24, 7], [46.6, 23.9, 7]]]];
  const question = { message: "Is this right?", swapped: "Swapped, in Romania." };
  const data = { ...VALID, geometry: { type: "MultiPolygon", coordinates }, question };
  const buttons = () => page.all("#report button").map((button) => button.textContent);
  report.show(data, "text");
  assert.match(box.textContent, /Is this right\?Swapped, in Romania\./);
  assert.deepEqual(buttons(), ["Swap latitude and longitude", "It is right"]);
  page.find("#report button").click();
  const turned = [[[[23.9, 46.6, 7], [23.9, 46.7, 7], [24, 46.6, 7], [23.9, 46.6, 7]]]];
  assert.deepEqual(used, [{ type: "MultiPolygon", coordinates: turned }]);
  report.show({ ...data, question: { message: "Really?", swapped: null } }, "text");
  assert.deepEqual(buttons(), ["It is right"]);
  page.find("#report button").click();
  assert.deepEqual(buttons(), []);
  report.show({ ...data, question: { message: "Really?", swapped: null } }, "text");
  assert.deepEqual(buttons(), []);
  report.show(data, "text");
  assert.equal(buttons().length, 2);
});

test("warnings are summed, and shown on the map only when asked for", async () => {
  const { report, box } = await reporting(() => [200, { data: VALID }]);
  const warning = (code, longitude) => ({ code, message: `A ${code}.`, coordinates: [longitude, 48] });
  report.show({ ...VALID, warnings: [warning("sliver", 8), warning("spike", 8.1), warning("sliver", 8.2)] }, "text");
  const lines = [...box.querySelectorAll("p")].slice(-2);
  assert.deepEqual(lines.map((line) => line.textContent), ["1 spike Show", "2 slivers Show"]);
  assert.ok(lines.every((line) => line.classList.contains("quiet")));
  assert.equal(report.faults.getLayers().length, 0);
  lines[1].querySelector("button").click();
  const marks = [...report.faults.getLayers()];
  assert.deepEqual(marks.map((mark) => mark.getLatLng().lng), [8, 8.2]);
  assert.equal(marks[0].getTooltip().getContent().textContent, "A sliver.");
});

test("without a boundary, the page says how to make one", async () => {
  const { report, box } = await reporting(() => [404, {}]);
  report.show({ problems: [], warnings: [], area_hectares: null, overlaps: [] }, " ");
  assert.match(box.textContent, /^No boundary yet/);
});
