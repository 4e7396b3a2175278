// Going to a place on a map: suggestions while one types, one message, one pin.

import assert from "node:assert/strict";
import test from "node:test";

import { Page, settle } from "./page.mjs";

const ALBAC = { kind: "town", name: "Albac", note: "Romania", place: [22.95, 46.45], zoom: 14 };
const ROMANIA = { kind: "country", name: "Romania", note: "country", box: [20, 43, 30, 49] };

async function opened(answer) {
  const page = new Page('<div id="map"></div>', { answer, classics: ["leaflet.js"] });
  const { placeButton } = await page.load("map/places.js");
  const map = page.window.L.map("map", { center: [0, 0], zoom: 2 });
  placeButton(map);
  const [field, form] = [page.find(".go-to input"), page.find(".go-to")];
  page.find(".map-button button").click();
  const press = (key) => page.fire(field, "keydown", null, { key });
  const enter = async () => {
    page.fire(form, "submit");
    await settle();
  };
  return { page, map, field, form, press, enter, options: () => page.all("[role=option]"), message: () => page.byId("go-to-message").textContent };
}

const both = () => [200, { data: { places: [ALBAC, ROMANIA], message: "" } }];
const near = ({ lat, lng }, latitude, longitude) => Math.hypot(lat - latitude, lng - longitude) < 0.5;

test("only what is left when one pauses is asked, and an answer that comes late is dropped", async () => {
  const { page, field, options } = await opened(both);
  page.type(field, "al");
  page.type(field, "albac");
  assert.equal(page.requests.length, 0);
  await page.clock.pass(200);
  assert.deepEqual(page.requests.map(({ query }) => query.q), ["albac"]);
  assert.deepEqual(options().map(({ textContent }) => textContent), ["AlbacRomania", "Romaniacountry"]);
  assert.equal(field.getAttribute("aria-expanded"), "true");
  page.type(field, "alba");
  await page.clock.pass(200);
  assert.ok(page.requests[0].options.signal.aborted);
});

test("arrows choose, Enter goes there, and the pin has a name until it is pressed", async () => {
  const { page, map, field, form, press, enter, options } = await opened(both);
  page.type(field, " albac ");
  await page.clock.pass(200);
  press("ArrowDown");
  assert.equal(field.getAttribute("aria-activedescendant"), options()[0].id);
  press("ArrowUp");
  assert.equal(options()[1].getAttribute("aria-selected"), "true");
  await enter();
  assert.ok(near(map.getCenter(), 46, 25) && form.hidden);
  assert.equal(page.find(".go-to-pin"), null); // a country has none
  form.hidden = false;
  await enter(); // the first, without another request
  assert.equal(page.requests.length, 1);
  assert.ok(near(map.getCenter(), 46.45, 22.95));
  assert.equal(map.getZoom(), 14);
  assert.equal(page.find(".leaflet-tooltip").textContent, "Albac");
  form.hidden = false;
  await enter();
  assert.equal(page.all(".go-to-pin").length, 1);
  page.find(".go-to-pin").click();
  assert.equal(page.find(".go-to-pin"), null);
});

test("Enter goes to the first at once, and a press to the one under the pointer", async () => {
  const { page, map, field, options, enter } = await opened(both);
  field.value = "albac";
  await enter();
  assert.ok(near(map.getCenter(), 46.45, 22.95));
  page.find(".map-button button").click();
  page.type(field, "rom");
  await page.clock.pass(200);
  page.form = page.find(".go-to");
  page.form.requestSubmit = () => page.fire(page.form, "submit");
  options()[1].querySelector("small").click();
  await settle();
  assert.ok(near(map.getCenter(), 46, 25));
});

test("Escape closes the suggestions, then the field", async () => {
  const { page, field, form, press, options } = await opened(both);
  page.type(field, "albac");
  await page.clock.pass(200);
  press("Escape");
  assert.deepEqual([options().length, form.hidden], [0, false]);
  press("Escape");
  assert.equal(form.hidden, true);
});

test("there is one message at the field, which goes with the next try", async () => {
  let answer = () => [200, { data: { places: [], message: "No such place." } }];
  const { page, field, enter, message } = await opened(() => answer());
  field.value = "Atlantis";
  await enter();
  await enter();
  assert.equal(message(), "No such place.");
  assert.deepEqual(page.toasts, []);
  page.type(field, "Atlanti");
  assert.equal(message(), "");
  answer = () => {
    throw new TypeError("Failed to fetch");
  };
  await enter();
  assert.equal(message(), "The server cannot be reached. Try again.");
  answer = () => [401, { error: { message: "You are signed out." } }];
  await enter();
  assert.equal(message(), "You are signed out.");
});
