// Parts of a page that follow what happens: how often they ask, what they say, and when they stop.

import assert from "node:assert/strict";
import test from "node:test";

import { Page } from "./page.mjs";

const PART = '<div id="part" hx-get="/part" hx-trigger="live"><details id="more"><p>More</p></details><input></div>';

async function following(body = PART) {
  const page = new Page(body);
  const asked = [];
  page.byId("part")?.addEventListener("live", () => asked.push(page.clock.now));
  await page.load("live.js");
  const part = page.byId("part");
  const respond = (status, tag) => {
    const headers = new Headers(tag ? { ETag: tag } : {});
    page.fire(part, "htmx:after:request", { ctx: { response: { status, headers } } });
    if (status >= 400) page.fire(part, "htmx:response:error", { ctx: { response: { status } } });
  };
  const hide = (isHidden) => {
    Object.defineProperty(page.document, "hidden", { get: () => isHidden, configurable: true });
    page.fire(page.document, "visibilitychange");
  };
  return { page, part, asked, respond, hide };
}

test("a page asks less and less often while nothing changes", async () => {
  const { page, asked } = await following();
  const waits = [];
  for (let number = 0; number < 12; number += 1) {
    const [wait] = page.clock.waits;
    waits.push(wait);
    await page.clock.pass(wait);
  }
  assert.deepEqual(waits.slice(0, 4), [2000, 3000, 4500, 6750]);
  assert.deepEqual(waits.slice(-2), [60_000, 60_000]);
  assert.equal(asked.length, 12);
});

test("after news it asks every two seconds, for half a minute", async () => {
  const { page, respond } = await following();
  await page.clock.pass(20_000);
  respond(200, '"1"'); // what the page has already
  assert.ok(page.clock.waits[0] > 2000);
  respond(200, '"2"');
  page.fire(page.document, "htmx:after:swap");
  assert.deepEqual(page.clock.waits, [2000]);
  await page.clock.pass(29_000);
  assert.ok(page.clock.waits[0] <= 2000);
  await page.clock.pass(10_000);
  assert.ok(page.clock.waits.length === 1);
  await page.clock.pass(page.clock.waits[0]);
  assert.ok(page.clock.waits[0] > 2000);
});

test("it says what it has, so that the server need not send it again", async () => {
  const { page, part, respond } = await following();
  const request = { headers: {} };
  page.fire(part, "htmx:config:request", { ctx: { request } });
  assert.deepEqual(request.headers, {});
  respond(200, '"1"');
  page.fire(part, "htmx:config:request", { ctx: { request } });
  assert.deepEqual(request.headers, { "If-None-Match": '"1"' });
});

test("a part in which somebody types does not change under their hands", async () => {
  const { page, part, asked } = await following();
  part.querySelector("input").focus();
  await page.clock.pass(10_000);
  assert.equal(asked.length, 0);
  part.querySelector("input").blur();
  await page.clock.pass(10_000);
  assert.ok(asked.length > 0);
});

test("a page that nobody sees does not ask, and asks as soon as it is seen", async () => {
  const { page, asked, hide } = await following();
  hide(true);
  page.fire(page.document, "htmx:after:swap"); // of something else
  await page.clock.pass(600_000);
  assert.deepEqual([asked.length, page.clock.waits.length], [0, 0]);
  hide(false);
  assert.equal(asked.length, 1);
});

test("who is signed out, or sees what is gone, is told, and the page stops", async () => {
  for (const [status, words] of [[401, /signed out/], [403, /role/], [404, /no longer exists/]]) {
    const { page, respond, hide, asked } = await following();
    await page.clock.pass(2000);
    respond(status);
    await page.clock.pass(600_000);
    hide(true);
    hide(false);
    assert.match(page.toasts[0], words);
    assert.equal(page.toasts.length, 1);
    assert.ok(asked.length <= 2, `${status}: ${asked.length}`);
  }
});

test("a server that cannot be reached is told once for each time", async () => {
  const { page, part, respond, asked } = await following();
  for (const answer of [304, 200]) {
    page.fire(part, "htmx:error");
    page.fire(part, "htmx:error");
    respond(answer, '"1"');
  }
  assert.deepEqual(page.toasts, Array(2).fill("The server cannot be reached. The page is renewed when it can."));
  await page.clock.pass(10_000);
  assert.ok(asked.length > 1);
});

test("what was opened stays open", async () => {
  const { page, part } = await following();
  page.byId("more").setAttribute("open", "");
  page.fire(part, "htmx:before:swap");
  page.byId("more").removeAttribute("open");
  page.fire(part, "htmx:after:swap");
  assert.ok(page.byId("more").open);
});

test("a page without such parts asks nothing", async () => {
  const { page } = await following("<p>Done.</p>");
  assert.deepEqual(page.clock.waits, []);
});
