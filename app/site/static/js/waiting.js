// Forms that could not be sent. This browser keeps them for the person and the account that filled them in, shows
// them on every page, and sends them when there is a connection: with the same Idempotency-Key each time, so that
// one whose answer was lost is not carried out twice.

import { toast } from "./toasts.js";

const PREFIX = `canopy work ${document.documentElement.dataset.owner} send `;
const WAIT = 30_000; // milliseconds until what may pass is tried again
const PATIENCE = 60_000; // milliseconds for an answer
const KEPT = 23 * 3_600_000; // milliseconds for which the server knows a key, for sure
const OFFLINE = "No network.";
const REFUSED = "It has to be corrected.";
const LATE = "It may have arrived a day ago. Look for it before you send it again.";
let timer = null;
let isSending = false;

const read = (key) => JSON.parse(localStorage.getItem(key));
const write = (key, form) => localStorage.setItem(key, JSON.stringify(form));
const drop = (key) => localStorage.removeItem(key);
const waiting = () => {
  const keys = Object.keys(localStorage).filter((key) => key.startsWith(PREFIX));
  return keys.map((key) => [key, read(key)]).sort(([, one], [, other]) => (one.at < other.at ? -1 : 1));
};

/** Keep a form to be sent, instead of an older one for the same record. The key of it; null if there is no room. */
export function keepToSend(path, fields) {
  const key = PREFIX + [...crypto.getRandomValues(new Uint32Array(4))].map((each) => each.toString(36)).join("-");
  const older = waiting().filter(([, form]) => form.path === path && !path.endsWith("/new"));
  try {
    write(key, { at: new Date().toISOString(), path, fields });
  } catch {
    return null;
  }
  for (const [each] of older) drop(each);
  return key;
}

/** Send one. Resolves with what was saved, {path, message}; or null, and it says of itself why it waits. */
export async function sendKept(key, way = "background") {
  const form = read(key);
  if (!form) return null; // sent or discarded on another page
  if (navigator.onLine) form.since ??= Date.now(); // it may arrive, whatever comes back
  write(key, form);
  const body = new FormData();
  for (const [name, value] of form.fields) body.append(name, value);
  try {
    const response = await fetch(form.path, {
      method: "POST",
      body,
      signal: AbortSignal.timeout(PATIENCE),
      headers: {
        "X-Requested-With": way,
        "X-CSRFToken": document.querySelector("[name=csrf_token]").value,
        "Idempotency-Key": key.slice(PREFIX.length),
      },
    });
    const { ok, status } = response;
    const isPage = response.headers.get("Content-Type")?.startsWith("text/html");
    const answer = isPage ? null : await response.json();
    if (ok) {
      const { data } = answer; // none in the page of a network that asks to sign in
      drop(key);
      return data;
    }
    form.problem = answer?.error.message ?? "The service does not answer.";
    form.isRefused = isPage && status < 500; // the form with its errors
    form.mayPass = status >= 500 || status === 429;
  } catch {
    Object.assign(form, { problem: OFFLINE, isRefused: false, mayPass: true });
  }
  if (read(key)) write(key, form);
  return null;
}

/** Take the fields of one that was refused, to correct them in its form. */
export function takeRefused(key) {
  const form = read(key);
  if (!form?.isRefused) return null;
  drop(key);
  return form.fields;
}

/** The key of one that the address of a page names. */
export const keyInAddress = () => PREFIX + new URLSearchParams(location.search).get("correct");

const isLate = ({ since }) => since && Date.now() - since > KEPT;

/** Say what waits, and why. */
export function show() {
  const forms = waiting();
  const box = document.getElementById("not-sent");
  clearTimeout(timer);
  if (forms.some(([, { mayPass }]) => mayPass)) timer = setTimeout(() => sendAll(), WAIT);
  box.hidden = !forms.length;
  box.querySelector("ul").replaceChildren(...forms.map(row));
  box.querySelector("#send-now").hidden = forms.every(([, { isRefused }]) => isRefused);
}

function row([key, form]) {
  const made = document.getElementById("not-sent-row").content.cloneNode(true);
  const link = made.querySelector("a");
  made.querySelector("strong").textContent = Object.fromEntries(form.fields).name || "Without a name";
  made.querySelector(".quiet").textContent = form.isRefused ? REFUSED : isLate(form) ? LATE : (form.problem ?? OFFLINE);
  link.hidden = !form.isRefused;
  link.href = `${form.path}?correct=${key.slice(PREFIX.length)}`;
  made.querySelector("button").addEventListener("click", () => {
    drop(key);
    show();
  });
  return made;
}

async function sendAll(isAsked = false) {
  if (isSending) return;
  isSending = true;
  for (const [key, form] of waiting()) {
    if (form.isRefused || (isLate(form) && !isAsked)) continue;
    if (isAsked) write(key, { ...form, since: undefined });
    const saved = await sendKept(key);
    if (saved) toast(saved.message);
  }
  isSending = false;
  show();
}

/** Send what waits: now, when a connection comes, and when another page has something. */
export function sendWaiting() {
  if (waiting().length) sendAll();
  document.getElementById("send-now").addEventListener("click", () => sendAll(true));
  addEventListener("online", () => sendAll());
  addEventListener("storage", show);
}
