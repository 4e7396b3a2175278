// Passkeys: what goes to the browser and to the server, and what people are told.

import assert from "node:assert/strict";
import test from "node:test";

import { Page, settle } from "./page.mjs";

const OPTIONS = {
  challenge: "-_8A", // base64url: bytes 251, 255, 0
  user: { id: "AQI", name: "ana@example.org" },
  excludeCredentials: [{ type: "public-key", id: "_w" }],
};
const FORM = `<form data-passkey="{}" data-options='${JSON.stringify(OPTIONS)}'>
  <input name="name" value="Phone"><input type="hidden" data-passkey-response>
  <p data-passkey-problem hidden></p><button disabled>Add</button></form>`;

/** A page whose browser answers with a passkey, or has none. */
async function asking(answer, kind = "create") {
  const asked = [];
  const ask = async (given) => (asked.push(given), answer(given));
  const setUp = (window) => {
    if (answer) window.PublicKeyCredential = class {};
    window.isSecureContext = true;
    window.navigator.credentials = { create: ask, get: ask };
    window.HTMLFormElement.prototype.submit = function () {
      this.wasSent = true;
    };
  };
  const page = new Page(FORM.replace("{}", kind), { setUp });
  await page.load("passkey.js");
  const form = page.find("form");
  const press = async () => {
    const isSent = page.fire(form, "submit");
    await settle();
    return isSent;
  };
  return { page, form, asked, press, field: page.find("[data-passkey-response]"), problem: page.find("[data-passkey-problem]"), button: page.find("button") };
}

const buffer = (...numbers) => Uint8Array.from(numbers).buffer;
const MADE = {
  rawId: buffer(251, 255),
  type: "public-key",
  response: { clientDataJSON: buffer(123, 125), attestationObject: buffer(1, 2, 3, 4), getTransports: () => ["internal"] },
};

test("a new passkey goes to the server in base64url", async () => {
  const { form, field, asked, press, button } = await asking(() => MADE);
  assert.ok(!button.disabled);
  assert.equal(await press(), false); // not yet: the browser is asked first
  const [{ publicKey }] = asked;
  assert.deepEqual([...publicKey.challenge], [251, 255, 0]);
  assert.deepEqual([...publicKey.user.id], [1, 2]);
  assert.deepEqual([...publicKey.excludeCredentials[0].id], [255]);
  assert.equal(publicKey.user.name, "ana@example.org");
  assert.deepEqual(JSON.parse(field.value), {
    id: "-_8", rawId: "-_8", type: "public-key",
    response: { clientDataJSON: "e30", attestationObject: "AQIDBA", transports: ["internal"] },
  });
  assert.ok(form.wasSent && button.disabled);
});

test("a signature has no more than the browser gave", async () => {
  const response = { clientDataJSON: buffer(1), authenticatorData: buffer(2), signature: buffer(3), userHandle: null };
  const { field, press } = await asking(() => ({ ...MADE, response }), "get");
  await press();
  assert.deepEqual(JSON.parse(field.value).response, { clientDataJSON: "AQ", authenticatorData: "Ag", signature: "Aw" });
});

test("who cancels is told, and can press again", async () => {
  for (const [name, words] of [["NotAllowedError", /canceled, or took too long/], ["InvalidStateError", /already has a passkey/], ["OddError", /could not use the passkey/]]) {
    const { form, field, press, problem, button } = await asking(() => Promise.reject(Object.assign(new Error(), { name })));
    await press();
    assert.match(problem.textContent, words);
    assert.ok(!problem.hidden && !button.disabled && !field.value && !form.wasSent);
  }
});

test("a form without a name, or with an answer, goes to the server as it is", async () => {
  const { page, asked, press, field } = await asking(() => MADE);
  page.find("[name=name]").value = " ";
  assert.equal(await press(), true);
  page.find("[name=name]").value = "Phone";
  field.value = "{}";
  assert.equal(await press(), true);
  assert.equal(asked.length, 0);
});

test("a browser without passkeys says so, and the button stays off", async () => {
  const { problem, button } = await asking(null);
  assert.match(problem.textContent, /does not support passkeys/);
  assert.ok(!problem.hidden && button.disabled);
});
