// Parts of a page that follow what happens: an element with hx-get, hx-trigger="live" and
// hx-swap="outerMorph", which the server leaves out when nothing more will happen.
//
// They are asked for every few seconds while something changes, then less and less often, and not
// at all while nobody sees the page. The server answers 304 when the page has all there is.

import { toast } from "./toasts.js";

const FIRST = 2_000; // milliseconds
const LONGEST = 60_000;
const BUSY = 30_000; // after a change
const SLOWER = 1.5;
const ENDS = {
  401: "You are signed out. Sign in again to follow this page.",
  403: "Your role no longer allows you to see this page. Ask an owner or admin of the account.",
  404: "This no longer exists, or you work in another account now.",
};

const tags = new Map(); // of what the page has, by the element's id
let wait = FIRST;
let changedAt = 0;
let timer = null;
let isOver = false;
let isTold = false;

const parts = () => [...document.querySelectorAll("[hx-trigger=live]")];

/** Whether somebody is at work in a part, which must not change under their hands. */
const isUsed = (part) =>
  part.querySelector(":popover-open") ||
  (part.contains(document.activeElement) && document.activeElement.matches("input, select, textarea"));

function plan() {
  clearTimeout(timer);
  if (!isOver && !document.hidden && parts().length) timer = setTimeout(ask, wait);
}

function ask() {
  for (const part of parts()) if (!isUsed(part)) part.dispatchEvent(new Event("live"));
  wait = Date.now() - changedAt < BUSY ? FIRST : Math.min(wait * SLOWER, LONGEST);
  plan();
}

/** Say once that the page is not renewed. */
function tell(message) {
  if (!isTold) toast(message, true);
  isTold = true;
}

const isLive = (event) => event.target.getAttribute?.("hx-trigger") === "live";

document.addEventListener("htmx:config:request", (event) => {
  const tag = isLive(event) && tags.get(event.target.id);
  if (tag) event.detail.ctx.request.headers["If-None-Match"] = tag;
});

document.addEventListener("htmx:after:request", (event) => {
  if (!isLive(event)) return;
  const { response } = event.detail.ctx;
  if (response?.status === 200 || response?.status === 304) isTold = false;
  if (response?.status !== 200) return;
  const isNews = tags.has(event.target.id); // the first response is what the page has already
  tags.set(event.target.id, response.headers.get("ETag"));
  if (isNews) [changedAt, wait] = [Date.now(), FIRST];
});

// What somebody has opened stays open.
let open = [];
document.addEventListener("htmx:before:swap", () => {
  open = [...document.querySelectorAll("[hx-trigger=live] details[open][id]")].map((each) => each.id);
});
document.addEventListener("htmx:after:swap", () => {
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  plan();
});

document.addEventListener("htmx:response:error", (event) => {
  if (!isLive(event)) return;
  const { status } = event.detail.ctx.response;
  isOver = status in ENDS;
  tell(ENDS[status] ?? "The page could not be renewed. Reload it.");
});
document.addEventListener("htmx:error", (event) => {
  if (isLive(event)) tell("The server cannot be reached. The page is renewed when it can.");
});
document.addEventListener("visibilitychange", () => {
  if (document.hidden) clearTimeout(timer);
  else if (!isOver) ask();
});
plan();
