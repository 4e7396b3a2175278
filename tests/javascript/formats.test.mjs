// Times in the reader's zone: the browser's, which is New York here, or the one of the profile. Numbers and
// patterns are compared with the server's in tests/values/test_formats.py.

import assert from "node:assert/strict";
import test from "node:test";

import { Page } from "./page.mjs";

const TIME = '<time datetime="2026-01-31T05:04:00Z">2026-01-31 05:04 UTC</time>';
const FIELD = '<form><label for="from">From (UTC)</label><input type="datetime-local" id="from" name="from" step="1" value="{}"></form>';

async function shown(body, root = "", format = {}) {
  const page = new Page(body, { root, format });
  const formats = await page.load("formats.js");
  formats.localizeTimes(page.document);
  return { page, formats, time: page.find("time") };
}

test("a time is shown in the zone of the browser, and in full in its title", async () => {
  const { time } = await shown(TIME);
  assert.equal(time.textContent, "01/31/2026, 12:04 AM");
  assert.equal(time.title, "Saturday, 01/31/2026, 12:04 AM, Eastern Standard Time");
});

test("the zone of the profile goes before that of the browser", async () => {
  const { time } = await shown(TIME, 'data-time-zone="Asia/Kathmandu"');
  assert.match(time.textContent, /10:49/);
});

test("a zone that this browser does not know leaves its own", async () => {
  const { time } = await shown(TIME, 'data-time-zone="Mars/Olympus"');
  assert.match(time.textContent, /12:04/);
});

test("noon and midnight have the right halves", async () => {
  const format = { moments: "{hour12}:{minute} {half}" };
  for (const [hour, text] of [["00", "12:30 AM"], ["01", "1:30 AM"], ["11", "11:30 AM"], ["12", "12:30 PM"], ["13", "1:30 PM"], ["23", "11:30 PM"]]) {
    const { time } = await shown(`<time datetime="2026-01-31T${hour}:30:00Z"></time>`, 'data-time-zone="UTC"', format);
    assert.equal(time.textContent, text);
  }
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
  const { page, formats } = await shown(FIELD.replace("{}", value), root);
  formats.localizeFields();
  return { page, formats, input: page.find("input") };
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
  const { page, formats } = await shown(FIELD.replace("{}", "2026-01-31T05:04:00"));
  page.find("input").value = "2026-01-31T07:30"; // as somebody had changed it
  formats.localizeFields();
  assert.equal(page.find("input").value, "2026-01-31T07:30");
  assert.equal(sent(page), "2026-01-31T12:30:00Z");
});
