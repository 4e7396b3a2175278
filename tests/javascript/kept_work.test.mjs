// Unsaved work that a browser keeps: it comes back, and is dropped when it was saved and not before.

import assert from "node:assert/strict";
import test from "node:test";

import { Page, plain } from "./page.mjs";

const FORM = `<form id="form">
  <input name="csrf_token" value="secret"><input name="name" value="Wood"><textarea name="geometry"></textarea>
  <p class="metadata-row"><input type="hidden"><input name="metadata_name" value="owner"><input name="metadata_value" value="Ana"></p>
  <input type="file" name="file"></form>`;

async function keeping(path = "/projects/new", body = FORM) {
  const page = new Page(body, { path });
  return { page, form: page.byId("form"), ...(await page.load("editor/kept_work.js")) };
}

test("work is kept for one person, account and project", async () => {
  const { KeptWork } = await keeping();
  const kept = new KeptWork("per_1 acc_1", "proj_1");
  assert.equal(kept.found, null);
  assert.ok(kept.keep([["name", "Wood"]]));
  assert.deepEqual(plain(kept.found.fields), [["name", "Wood"]]);
  for (const [owner, project] of [["per_2 acc_1", "proj_1"], ["per_1 acc_2", "proj_1"], ["per_1 acc_1", "proj_2"], ["per_1 acc_1", ""]]) {
    assert.equal(new KeptWork(owner, project).found, null);
  }
  kept.drop();
  assert.equal(kept.found, null);
});

test("work that cannot be read counts as none", async () => {
  const { page, KeptWork } = await keeping();
  const kept = new KeptWork("per_1 acc_1", "");
  page.window.localStorage.setItem(kept.key, "{half");
  assert.equal(kept.found, null);
});

test("a browser without room says so", async () => {
  const { KeptWork } = await keeping();
  assert.equal(new KeptWork("per_1 acc_1", "").keep([["geometry", "9".repeat(6_000_000)]]), false);
});

test("the page after a success drops the work, and takes that out of its address", async () => {
  const { page, KeptWork, dropSaved } = await keeping("/projects/proj_1?saved=yes&tab=map#map=3/1/1");
  const [mine, other] = [new KeptWork("per_1 acc_1", "proj_1"), new KeptWork("per_1 acc_1", "")];
  mine.keep([["name", "Wood"]]);
  other.keep([["name", "Other"]]);
  mine.submit();
  dropSaved();
  assert.equal(mine.found, null);
  assert.ok(other.found);
  assert.equal(page.window.location.href, "https://forest.example.org/projects/proj_1?tab=map#map=3/1/1");
});

test("what was not saved stays", async () => {
  const { KeptWork, dropSaved } = await keeping("/projects/proj_1?saved=yes");
  const kept = new KeptWork("per_1 acc_1", "");
  kept.keep([["name", "Wood"]]);
  kept.submit();
  kept.notSaved();
  dropSaved();
  assert.ok(kept.found);
});

test("a page that says nothing of saving drops nothing", async () => {
  const { KeptWork, dropSaved } = await keeping("/projects/proj_1");
  const kept = new KeptWork("per_1 acc_1", "proj_1");
  kept.keep([["name", "Wood"]]);
  kept.submit();
  dropSaved();
  assert.ok(kept.found);
});

test("neither the token nor files are kept", async () => {
  const { form, fieldsOf } = await keeping();
  assert.deepEqual(plain(fieldsOf(form)), [
    ["name", "Wood"], ["geometry", ""], ["metadata_name", "owner"], ["metadata_value", "Ana"],
  ]);
});

test("fields come back into as many rows as they need", async () => {
  const { form, fieldsOf, fillIn } = await keeping();
  const fields = [
    ["name", "Old wood"], ["geometry", '{"type": "Polygon"}'], ["metadata_name", "a"], ["metadata_value", "1"],
    ["metadata_name", "b"], ["metadata_value", "2"], ["metadata_name", ""], ["metadata_value", "3"], ["gone", "x"],
  ];
  fillIn(form, fields);
  assert.deepEqual(plain(fieldsOf(form)), fields.slice(0, -1));
  assert.equal(form.elements.csrf_token.value, "secret");
});
