// Forms that wait for a connection: sent with one key, shown with the reason, never twice by themselves.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { Page, plain, settle } from "./page.mjs";

const TEMPLATE = readFileSync(new URL("../../app/site/templates/base.html", import.meta.url), "utf8");
const [BOX] = /<section class="banner" id="not-sent"[^]*?<\/section>/.exec(TEMPLATE);

const FIELDS = [["name", "Gate <b>"], ["type", "gate"]];
const PAGE = [422, "<form></form>", { "Content-Type": "text/html" }];
const OFFLINE = async () => {
  throw new TypeError("Failed to fetch");
};

async function opened(answer) {
  const root = 'data-owner="per_1 acc_1"';
  const page = new Page(`${BOX}<input name="csrf_token" value="token">`, { root, answer });
  const words = () => (page.byId("not-sent").hidden ? "" : page.byId("not-sent").textContent);
  return { page, waiting: await page.load("waiting.js"), words };
}

const keyOf = ({ options }) => options.headers["Idempotency-Key"];

test("one that got no answer is sent again with the same key, until it has one", async () => {
  let answer = OFFLINE;
  const { page, waiting, words } = await opened((request) => answer(request));
  waiting.keepToSend("/assets/new", FIELDS);
  waiting.sendWaiting();
  await page.clock.pass(1000);
  assert.match(words(), /Gate <b> No network\./);
  answer = () => [503, { error: { message: "Try again shortly." } }];
  await page.clock.pass(30_000);
  assert.match(words(), /Try again shortly\./);
  answer = () => [200, "<p>Welcome to this network</p>", { "Content-Type": "text/html" }];
  await page.clock.pass(30_000);
  assert.match(words(), /No network/);
  answer = () => [200, { data: { path: "/a", message: "Gate created." } }];
  page.fire(page.window, "online");
  await settle();
  assert.equal(words(), "");
  assert.deepEqual(page.toasts, ["Gate created."]);
  assert.equal(new Set(page.requests.map(keyOf)).size, 1);
  assert.equal(page.requests.length, 4);
  const { body, headers } = page.requests[3].options;
  assert.deepEqual(plain([...body]), FIELDS);
  assert.equal(headers["X-CSRFToken"], "token");
  await page.clock.pass(60_000);
  assert.equal(page.requests.length, 4);
});

test("what was refused is not sent again by itself, but corrected or discarded", async () => {
  const { page, waiting, words } = await opened(() => PAGE);
  const key = waiting.keepToSend("/assets/new", FIELDS);
  waiting.keepToSend("/assets/new", [["name", ""]]);
  assert.equal(waiting.takeRefused(key), null);
  waiting.sendWaiting();
  await page.clock.pass(60_000);
  assert.equal(page.requests.length, 2);
  assert.match(words(), /has to be corrected/);
  const link = page.find("#not-sent a");
  assert.ok(key.endsWith(` ${link.search.slice("?correct=".length)}`));
  page.window.history.replaceState(null, "", link.href);
  assert.deepEqual(plain(waiting.takeRefused(waiting.keyInAddress())), FIELDS);
  waiting.show();
  page.find("#not-sent li button").click();
  assert.deepEqual([words(), page.window.localStorage.length], ["", 0]);
});

test("a session that has ended, or a role that has changed, is told; nothing is tried again before the next page", async () => {
  const { page, waiting, words } = await opened(() => [401, { error: { message: "You are signed out." } }]);
  waiting.keepToSend("/assets/new", FIELDS);
  waiting.sendWaiting();
  await page.clock.pass(60_000);
  assert.match(words(), /You are signed out/);
  assert.equal(page.requests.length, 1);
});

test("one that may have arrived before the server forgot its key is sent again only by a click", async () => {
  const { page, waiting, words } = await opened(OFFLINE);
  waiting.keepToSend("/assets/new", FIELDS);
  waiting.sendWaiting();
  await settle();
  const { length } = page.requests;
  page.clock.now += 24 * 3_600_000;
  page.fire(page.window, "online");
  await settle();
  assert.equal(page.requests.length, length);
  assert.match(words(), /Look for it/);
  page.byId("send-now").click();
  await settle();
  assert.equal(page.requests.length, length + 1);
});

test("a form of a record takes the place of an older one; a browser without room says so", async () => {
  const { page, waiting } = await opened(OFFLINE);
  for (const path of ["/assets/new", "/assets/new", "/assets/p/a/edit", "/assets/p/a/edit"]) waiting.keepToSend(path, FIELDS);
  assert.equal(page.window.localStorage.length, 3);
  assert.equal(waiting.keepToSend("/assets/new", [["name", "9".repeat(6_000_000)]]), null);
});
