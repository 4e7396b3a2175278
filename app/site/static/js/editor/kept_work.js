// Unsaved work, kept in this browser: nothing is lost when the session or the connection ends.

const SUBMITTED = "canopy submitted";
const PREFIX = "canopy work ";

export class KeptWork {
  /** owner: the person and the account; project: its id, or nothing for a new one. */
  constructor(owner, project) {
    this.key = `${PREFIX}${owner} ${project || "new"}`;
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

  drop() {
    localStorage.removeItem(this.key);
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

/** The fields of a form as pairs, files and the token left out. */
export function fieldsOf(form) {
  return [...new FormData(form)].filter(([name, value]) => name !== "csrf_token" && typeof value === "string");
}

/** Put fields back into a form that has as many rows as it needs. */
export function fillIn(form, fields, addRow) {
  const names = fields.filter(([name]) => name === "metadata_name").length;
  while (form.querySelectorAll("[name=metadata_name]").length < names) addRow();
  const seen = {};
  for (const [name, value] of fields) {
    const number = (seen[name] = (seen[name] ?? -1) + 1);
    const field = form.querySelectorAll(`[name="${name}"]`)[number];
    if (field) field.value = value;
  }
}
