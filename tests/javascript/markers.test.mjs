// The markers of assets on the map of a project, and the shapes of an import.

import assert from "node:assert/strict";
import test from "node:test";

import { Page, settle } from "./page.mjs";

test("markers at one place and near it do not cover each other, at any zoom", async () => {
  const page = new Page('<div id="map"></div><svg id="sign"></svg>', { classics: ["leaflet.js"] });
  const { assetMarker, spread } = await page.load("map/asset_marker.js");
  const map = page.window.L.map("map", { zoomAnimation: false }).setView([48, 8], 6);
  const places = Array.from({ length: 100 }, (_, number) => (number < 60 ? [8, 48] : [8 + number / 1000, 48]));
  const markers = places.map((place) => assetMarker(place, page.byId("sign"), "A").addTo(map));
  spread(map, [...markers, assetMarker([12, 50], page.byId("sign"), "Far").addTo(map)]);
  const corners = () =>
    page.all(".asset-sign").map((sign) => {
      const { x, y } = page.window.L.DomUtil.getPosition(sign);
      return [x + parseFloat(sign.style.marginLeft), y + parseFloat(sign.style.marginTop)];
    });
  for (const zoom of [6, 12, 17]) {
    map.setZoom(zoom);
    const found = corners();
    found.forEach(([x, y], number) => {
      const others = found.slice(number + 1);
      assert.ok(others.every((other) => Math.max(Math.abs(other[0] - x), Math.abs(other[1] - y)) >= 26), `${zoom}, ${number}`);
    });
    assert.deepEqual([page.all(".asset-sign")[100].style.marginLeft, found.length], ["-13px", 101]);
    const moved = page.all(".asset-sign").filter(({ style }) => style.marginLeft !== "-13px" || style.marginTop !== "-13px");
    assert.equal(page.all(".asset-line").length, moved.length);
    assert.ok(moved.every(({ title }) => title === "A (moved apart; the line leads to its place)"));
  }
  assert.equal(page.all(".map-coordinates")[0].textContent, "Markers moved apart; the line leads to its place");
  assert.equal(page.all(".asset-line").length, 59); // those at one place, but for the first
});

test("a marker that moves takes the place of no other", async () => {
  const page = new Page('<div id="map"></div><svg id="sign"></svg>', { classics: ["leaflet.js"] });
  const { assetMarker, spread } = await page.load("map/asset_marker.js");
  const map = page.window.L.map("map", { zoomAnimation: false }).setView([0, 0], 10);
  const beside = map.unproject(map.project([0, 0]).add([26, 0])); // where the second would go first
  const marker = ({ lng, lat }) => assetMarker([lng, lat], page.byId("sign"), "A").addTo(map);
  spread(map, [marker({ lng: 0, lat: 0 }), marker({ lng: 0, lat: 0 }), marker(beside)]);
  assert.deepEqual(page.all(".asset-sign").map(({ title }) => title.length > 1), [false, true, false]);
  map.setZoom(18);
  assert.equal(page.all(".asset-line").length, 1);
});

test("the shapes of an import are no stops of the Tab key", async () => {
  const shape = (part, type, coordinates) => ({
    type: "Feature",
    properties: { number: 1, name: "Oak", part },
    geometry: { type, coordinates },
  });
  const features = [
    shape("new", "Polygon", [[[8, 48], [9, 48], [9, 49], [8, 48]]]),
    shape("fault", "Point", [8, 48]),
  ];
  const page = new Page(`<div id="map"></div><p id="map-note"></p><div id="features" data-shapes="/shapes" data-all="/shapes?after=0"></div>`, {
    classics: ["leaflet.js", "geojson-vt.js"],
    setUp: (window) => (window.Worker = class extends window.EventTarget { postMessage() {} }),
    answer: () => [200, { type: "FeatureCollection", features, left_out: 0, next: null }],
  });
  await page.load("imports.js");
  await settle();
  const shapes = page.all("#map path.shape");
  assert.deepEqual(shapes.map((each) => each.getAttribute("tabindex")), ["-1", "-1"]);
});
