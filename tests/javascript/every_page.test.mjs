// What every page does: sending once, the appearance, copying, the focus, and what is selected.

import assert from "node:assert/strict";
import test from "node:test";

import { Page, settle } from "./page.mjs";

async function opened(body, options) {
  const page = new Page(body, options);
  await page.load("page.js");
  return page;
}

test("a form is sent once, however often its button is pressed", async () => {
  const page = await opened('<form method="post" id="one"></form><form method="post" id="two"></form><form id="search"></form>');
  const send = (id) => page.fire(page.byId(id), "submit");
  assert.deepEqual([send("one"), send("one"), send("two")], [true, false, true]);
  assert.deepEqual([send("search"), send("search")], [true, true]);
  await page.clock.pass(2000);
  assert.equal(send("one"), true); // the response never came
});

test("a form that a script has stopped may be sent at once afterwards", async () => {
  const page = await opened('<form method="post" id="one"></form>');
  const form = page.byId("one");
  form.addEventListener("submit", (event) => event.preventDefault(), { once: true });
  assert.equal(page.fire(form, "submit"), false);
  assert.equal(page.fire(form, "submit"), true);
});

test("who signs out leaves no work in the browser, and is asked about what is not sent", async () => {
  const page = new Page('<section id="not-sent"><button id="send-now"></button></section><form method="post" action="/logout"></form>', { root: 'data-owner="per_1 acc_1"' });
  const { localStorage } = page.window;
  const others = ["canopy work per_2 acc_1 new", "something else"];
  const own = ["canopy work per_1 acc_1 new", "canopy work per_1 acc_2 proj_1"];
  for (const key of [...own, ...others]) localStorage.setItem(key, "{}");
  const asked = [];
  let answer = false;
  page.window.confirm = (words) => asked.push(words) && answer;
  await page.load("page.js");
  localStorage.setItem("canopy work per_1 acc_2 send x", "{}");
  assert.equal(page.fire(page.find("form"), "submit"), false);
  assert.equal(localStorage.length, 5);
  answer = true;
  assert.equal(page.fire(page.find("form"), "submit"), true);
  assert.deepEqual(Object.keys(localStorage).sort(), others);
  assert.equal(asked.length, 2);
  assert.ok(page.fire(page.find("form"), "submit") !== undefined && asked.length === 2); // nothing waits
});

test("the appearance is chosen, kept in a cookie, and given up again", async () => {
  const choices = ["", "dark", "light"].map((each) => `<button type="button" data-theme-choice="${each}"></button>`).join("");
  const page = await opened(`<div class="appearance" hidden>${choices}</div>`);
  let changes = 0;
  page.document.addEventListener("themechange", () => (changes += 1));
  const [system, dark] = page.all("button");
  const pressed = () => page.all("[aria-pressed=true]").map((button) => button.dataset.themeChoice);
  assert.ok(!page.find(".appearance").hidden);
  assert.deepEqual(pressed(), [""]);
  dark.click();
  assert.equal(page.document.documentElement.dataset.theme, "dark");
  assert.match(page.document.cookie, /canopy_theme=dark/);
  assert.deepEqual(pressed(), ["dark"]);
  system.click();
  assert.equal(page.document.documentElement.dataset.theme, undefined);
  assert.equal(page.document.cookie, "");
  assert.equal(changes, 2);
});

test("fields and texts are copied, and a browser that refuses is told of", async () => {
  const copied = [];
  const setUp = (window) => (window.navigator.clipboard = { writeText: async (text) => copied.push(text) });
  const body = '<input id="field" value="of a field"><code id="text">of a text</code><button data-copy="field"></button><button data-copy="text"></button>';
  const page = await opened(body, { setUp });
  page.all("button").forEach((button) => button.click());
  await settle();
  assert.deepEqual([copied, page.toasts], [["of a field", "of a text"], ["Copied.", "Copied."]]);
  page.window.navigator.clipboard.writeText = () => Promise.reject(new Error());
  page.find("button").click();
  await settle();
  assert.match(page.toasts.at(-1), /does not allow copying/);
});

test("messages go after a while, and those of problems stay", async () => {
  const page = new Page("");
  const { toast } = await page.load("toasts.js");
  toast("Saved <b>it</b>.");
  toast("Not saved.", true);
  assert.deepEqual(page.toasts, ["Saved <b>it</b>.", "Not saved."]);
  await page.clock.pass(8000);
  assert.deepEqual(page.toasts, ["Not saved."]);
  page.find("#toasts button").click();
  assert.deepEqual(page.toasts, []);
});

test("the field that was rejected has the focus", async () => {
  const page = await opened('<input id="good"><input id="bad" aria-invalid="true">');
  assert.equal(page.document.activeElement.id, "bad");
});

test("when what had the focus is replaced, it goes to what took its place, or to what is wrong", async () => {
  for (const [html, id] of [
    ['<input id="field">', "field"],
    ['<input id="field"><input id="wrong" aria-invalid="true">', "wrong"],
    ["<p>No such field any more</p>", "results"],
  ]) {
    const page = await opened('<div id="part"><input id="field"></div><div id="results" tabindex="-1"></div>');
    page.byId("field").focus();
    page.fire(page.document, "htmx:before:request");
    page.byId("part").innerHTML = html;
    page.fire(page.document, "htmx:after:swap");
    assert.equal(page.document.activeElement.id, id);
  }
});

test("the bar below a list says how many rows are selected", async () => {
  const boxes = '<input type="checkbox" name="ids">'.repeat(2);
  const page = new Page(`<div id="results">${boxes}</div><div id="selection-bar"><span id="selected-count"></span></div>`);
  const { showSelection } = await page.load("selection.js");
  const bar = () => [page.byId("selection-bar").hidden, page.byId("selected-count").textContent];
  assert.ok(bar()[0]);
  page.all("[name=ids]").forEach((box) => box.click());
  assert.deepEqual(bar(), [false, "2 selected"]);
  page.byId("results").replaceChildren();
  showSelection();
  assert.ok(bar()[0]);
});
