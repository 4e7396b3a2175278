// What every page does: times in the reader's zone, the appearance, copying and saving.

import { localizeFields, localizeTimes } from "./formats.js";
import { toast } from "./toasts.js";
import { sendWaiting } from "./waiting.js";

const YEAR = 365 * 24 * 3600;
const SENT_ONCE = 2_000; // milliseconds

function chooseTheme(choice) {
  const root = document.documentElement;
  if (choice) root.dataset.theme = choice;
  else delete root.dataset.theme;
  document.cookie = `canopy_theme=${choice}; path=/; max-age=${choice ? YEAR : 0}; samesite=lax`;
  showTheme();
  document.dispatchEvent(new CustomEvent("themechange"));
}

function showTheme() {
  const chosen = document.documentElement.dataset.theme ?? "";
  for (const button of document.querySelectorAll("[data-theme-choice]")) {
    button.setAttribute("aria-pressed", String(button.dataset.themeChoice === chosen));
  }
}

// A form that was rejected may be far below the top of its page.
function showProblem() {
  const field = document.querySelector("[aria-invalid='true']");
  if (field) return field.focus();
  const problem = document.querySelector(".notice.problem[role='alert']");
  if (problem?.getBoundingClientRect().bottom > innerHeight) problem.scrollIntoView({ block: "center" });
}

async function copy(button) {
  const source = document.getElementById(button.dataset.copy);
  try {
    await navigator.clipboard.writeText(source.value ?? source.textContent);
    toast("Copied.");
  } catch {
    toast("Your browser does not allow copying here. Select the text and copy it.", true);
  }
}

// The file is made here: browsers keep addresses, so none has the secret.
function save(button) {
  const text = document.getElementById(button.dataset.save).textContent;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([`${text}\n`], { type: "text/plain" }));
  link.download = button.dataset.filename;
  link.click();
}

document.addEventListener("click", (event) => {
  event.target.closest("a.menu-item")?.closest("[popover]")?.hidePopover(); // a download leaves the page as it is
  const button = event.target.closest("[data-theme-choice], [data-copy], [data-save]");
  if (!button) return;
  if (button.dataset.copy) copy(button);
  else if (button.dataset.save) save(button);
  else chooseTheme(button.dataset.themeChoice);
});

// A second click would send a form again before its response comes.
const sent = new WeakMap();
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "post" || event.defaultPrevented) return;
  if (Date.now() - (sent.get(form) ?? 0) < SENT_ONCE) event.preventDefault();
  else sent.set(form, Date.now());
});

// Whoever signs out may leave the computer to others. What others keep here stays.
const { owner } = document.documentElement.dataset;
document.querySelector("form[action='/logout']")?.addEventListener("submit", (event) => {
  const own = Object.keys(localStorage).filter((key) => key.startsWith(`canopy work ${owner?.split(" ")[0]} `));
  const unsent = own.filter((key) => key.includes(" send ")).length;
  if (unsent && !confirm(`Not sent yet: ${unsent}. Signing out discards what is kept in this browser. Sign out?`)) event.preventDefault();
  else own.forEach((key) => localStorage.removeItem(key));
});
if (owner) sendWaiting();

for (const group of document.querySelectorAll(".appearance, [data-copy], [data-save]")) group.hidden = false;
showTheme();
localizeTimes(document);
localizeFields();
showProblem();

for (const sample of document.querySelectorAll("p.sample")) {
  const pictures = [...sample.children].map((picture) => picture.decode());
  Promise.all(pictures).catch(() => {
    sample.className = "notice warning";
    sample.textContent = "The server refuses, or does not reply.";
  });
}

// What had the focus may be replaced. Then it goes to what is wrong, to what took its place, or to
// the results.
let focused = null;
document.addEventListener("htmx:before:request", () => (focused = document.activeElement));
document.addEventListener("htmx:after:swap", () => {
  localizeTimes(document);
  if (!focused || focused.isConnected) return;
  const same = focused.id ? document.getElementById(focused.id) : null;
  (document.querySelector("[aria-invalid]") ?? same ?? document.getElementById("results"))?.focus();
});
