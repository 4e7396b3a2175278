// Unsaved work, kept in this browser: nothing is lost when the session or the connection ends.

import { localizeTimes } from "../formats.js";

const SUBMITTED = "canopy submitted";
const PREFIX = "canopy work ";

export class KeptWork {
  /** owner: the person and the account; subject: what is edited, or nothing for a new project. */
  constructor(owner, subject) {
    this.key = `${PREFIX}${owner} ${subject || "new"}`;
  }

  /** The work that was kept, or null. */
  get found() {
    try {
      return JSON.parse(localStorage.getItem(this.key));
    } catch {
      return null;
    }
  }

  /** Keep the fields of the form. False if the browser has no room for them. */
  keep(fields) {
    try {
      localStorage.setItem(this.key, JSON.stringify({ at: new Date().toISOString(), fields }));
      return true;
    } catch {
      return false;
    }
  }

  /** Keep the fields of a form in a moment, when no more is typed. */
  keepSoon(form) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.keep(fieldsOf(form)), 300);
  }

  drop() {
    clearTimeout(this.timer);
    localStorage.removeItem(this.key);
    document.getElementById("kept-work")?.setAttribute("hidden", "");
  }

  /** Offer what was kept: use(fields) takes it. */
  offer(use) {
    const { found } = this;
    if (!found) return;
    const box = document.getElementById("kept-work");
    const when = document.createElement("time");
    when.dateTime = found.at;
    document.getElementById("kept-at").append(when);
    localizeTimes(box);
    box.hidden = false;
    box.addEventListener("click", ({ target }) => {
      if (target.id === "kept-drop") this.drop();
      if (target.id !== "kept-use") return;
      box.hidden = true;
      use(found.fields);
    });
  }

  /** The form is being sent: the page that follows a success drops the work. */
  submit() {
    sessionStorage.setItem(SUBMITTED, this.key);
  }

  notSaved() {
    sessionStorage.removeItem(SUBMITTED);
  }
}

/** Drop what was just saved. For the page that follows, whose address says that it was. */
export function dropSaved() {
  const address = new URL(location.href);
  if (!address.searchParams.has("saved")) return;
  address.searchParams.delete("saved");
  history.replaceState(history.state, "", address);
  const key = sessionStorage.getItem(SUBMITTED);
  if (!key) return;
  localStorage.removeItem(key);
  sessionStorage.removeItem(SUBMITTED);
}

/** The fields of a form and of the button that sends it as pairs, files and the token left out. */
export function fieldsOf(form, button = null) {
  return [...new FormData(form, button)].filter(([name, value]) => name !== "csrf_token" && typeof value === "string");
}

/** Add a row for metadata to a form. */
export function addRow(form) {
  const rows = form.querySelectorAll(".metadata-row");
  const row = rows[rows.length - 1].cloneNode(true); // the last one has no field of several lines
  row.querySelector("[type=hidden]").value = "";
  row.querySelectorAll("input:not([type=hidden])").forEach((input, place) => {
    input.value = "";
    input.setAttribute("aria-label", `${place ? "Value" : "Name of value"} ${rows.length + 1}`);
  });
  rows[rows.length - 1].after(row);
  return row;
}

/** Let the button of a form add such rows. */
export function offerRows(form) {
  const button = document.getElementById("add-metadata");
  button.hidden = false;
  button.addEventListener("click", () => addRow(form).querySelector("[name=metadata_name]").focus());
}

/** Put fields back into a form. Rows that it lacks are added. */
export function fillIn(form, fields) {
  const names = fields.filter(([name]) => name === "metadata_name").length;
  while (form.querySelectorAll("[name=metadata_name]").length < names) addRow(form);
  const seen = {};
  for (const [name, value] of fields) {
    const number = (seen[name] = (seen[name] ?? -1) + 1);
    const field = form.querySelectorAll(`[name="${name}"]`)[number];
    if (field) field.value = value;
  }
}
