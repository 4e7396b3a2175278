// Times in the reader's zone: the browser's, which is New York here, or the one of the profile.

import assert from "node:assert/strict";
import test from "node:test";

import { Page } from "./page.mjs";

const TIME = '<time datetime="2026-01-31T05:04:00Z">2026-01-31 05:04 UTC</time>';
const FIELD = '<form><label for="from">From (UTC)</label><input type="datetime-local" id="from" name="from" step="1" value="{}"></form>';

async function shown(body, root = "") {
  const page = new Page(body, { root });
  const times = await page.load("times.js");
  times.localize(page.document);
  return { page, times, time: page.find("time") };
}

test("a time is shown in the zone of the browser, and in full in its title", async () => {
  const { time } = await shown(TIME);
  assert.equal(time.textContent.replace(/\s/g, " "), "Jan 31, 2026, 12:04 AM");
  assert.match(time.title, /^Saturday, January 31, 2026 at 12:04:00\sAM EST$/);
});

test("the zone of the profile goes before that of the browser", async () => {
  const { time } = await shown(TIME, 'data-time-zone="Asia/Kathmandu"');
  assert.match(time.textContent, /10:49/);
});

test("a zone that this browser does not know leaves its own", async () => {
  const { time } = await shown(TIME, 'data-time-zone="Mars/Olympus"');
  assert.match(time.textContent, /12:04/);
});

test("the form of the profile is followed", async () => {
  for (const [form, text] of [
    ["{day}.{month}.{year} {hour}:{minute}", "31.01.2026 00:04"],
    ["{year}-{month}-{day} {hour}:{minute}", "2026-01-31 00:04"],
    ["{month}/{day}/{year} {hour12}:{minute} {half}", "01/31/2026 12:04 AM"],
  ]) {
    assert.equal((await shown(TIME, `data-dates="${form}"`)).time.textContent, text);
  }
});

test("noon and midnight have the right halves", async () => {
  const form = 'data-dates="{hour12}:{minute} {half}" data-time-zone="UTC"';
  for (const [hour, text] of [["00", "12:30 AM"], ["01", "1:30 AM"], ["11", "11:30 AM"], ["12", "12:30 PM"], ["13", "1:30 PM"], ["23", "11:30 PM"]]) {
    assert.equal((await shown(`<time datetime="2026-01-31T${hour}:30:00Z"></time>`, form)).time.textContent, text);
  }
});

test("a number is shown in the format of the browser, as exact as the page has it, once", async () => {
  const page = new Page('<data value="203486.04">203,486.04 ha</data><p><data value="0">0 ha</data></p>', {
    setUp: ({ Intl }) => (Intl.NumberFormat = Intl.NumberFormat.bind(null, "de")),
  });
  const { localize } = await page.load("times.js");
  localize(page.document);
  localize(page.document);
  assert.equal(page.document.body.textContent, "203.486,04 ha0 ha");
});

test("what is no time, or is complete, stays", async () => {
  const { page } = await shown('<time datetime="soon">soon</time><time datetime="2026-01-31T05:04:00Z" title="x">then</time>');
  assert.deepEqual(page.all("time").map(({ textContent }) => textContent), ["soon", "then"]);
});

/** The value that a field has when its form is sent. */
function sent(page) {
  const formData = new page.window.FormData(page.find("form"));
  page.fire(page.find("form"), "formdata", null, { formData });
  return formData.get("from");
}

async function field(value, root) {
  const { page, times } = await shown(FIELD.replace("{}", value), root);
  times.localizeFields();
  return { page, times, input: page.find("input") };
}

test("a field has the time of the reader, and sends UTC", async () => {
  const { page, input } = await field("2026-01-31T05:04:00");
  assert.equal(input.value, "2026-01-31T00:04");
  assert.equal(page.find("label").textContent.trim(), "From");
  assert.equal(sent(page), "2026-01-31T05:04:00Z");
  input.value = "2026-07-01T09:30";
  assert.equal(sent(page), "2026-07-01T13:30:00Z"); // daylight saving time
  input.value = "";
  assert.equal(sent(page), "");
});

test("hours around changes of the clock are sent right", async () => {
  const { page, input } = await field("");
  for (const [local, utc] of [
    ["2026-03-08T01:59:59", "2026-03-08T06:59:59Z"], ["2026-03-08T03:00:00", "2026-03-08T07:00:00Z"],
    ["2026-11-01T00:59:59", "2026-11-01T04:59:59Z"], ["2026-11-01T02:00:00", "2026-11-01T07:00:00Z"],
  ]) {
    input.value = local;
    assert.equal(sent(page), utc);
  }
});

test("far from UTC, a field sends the right day", async () => {
  const { page, input } = await field("2026-01-31T11:00:00", 'data-time-zone="Pacific/Kiritimati"');
  assert.equal(input.value, "2026-02-01T01:00");
  assert.equal(sent(page), "2026-01-31T11:00:00Z");
});

test("what the browser has restored after a reload is in the reader's zone already", async () => {
  const { page, times } = await shown(FIELD.replace("{}", "2026-01-31T05:04:00"));
  page.find("input").value = "2026-01-31T07:30"; // as somebody had changed it
  times.localizeFields();
  assert.equal(page.find("input").value, "2026-01-31T07:30");
  assert.equal(sent(page), "2026-01-31T12:30:00Z");
});
