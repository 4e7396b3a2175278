// Times in the reader's zone, and numbers. Pages have times in UTC, for those without scripts. What a person has
// chosen in their profile goes before what the browser does: the zone, the form, or both. Times
// with a title are complete.

const { dates, timeZone: chosen } = document.documentElement.dataset;
const timeZone = isKnown(chosen) ? chosen : undefined;
const short = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short", timeZone });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long", timeZone });
const digits = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "medium", timeZone });
const numbers = new Intl.DateTimeFormat("en-US", {
  year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone,
});

/** A browser may be older than the name of a zone. */
function isKnown(zone) {
  try {
    return Boolean(zone && new Intl.DateTimeFormat(undefined, { timeZone: zone }));
  } catch {
    return false;
  }
}

function written(moment) {
  const parts = Object.fromEntries(numbers.formatToParts(moment).map(({ type, value }) => [type, value]));
  const hour = Number(parts.hour);
  const all = { ...parts, hour12: ((hour + 11) % 12) + 1, half: hour < 12 ? "AM" : "PM" };
  return dates.replace(/\{(\w+)\}/g, (_, name) => all[name]);
}

/** A moment as a field has it, in the reader's zone: 2026-01-31T14:05:00. */
function fieldValue(moment) {
  return digits.format(moment).replace(" ", "T");
}

/** The value of such a field in UTC: 2026-01-31T13:05:00Z. */
function inUTC(value) {
  const wanted = Date.parse(`${value}Z`);
  let moment = wanted;
  for (let step = 0; step < 2; step += 1) {
    // The zone's distance from UTC is that of the moment, which is better known each time.
    moment = wanted - (Date.parse(`${fieldValue(moment)}Z`) - moment);
  }
  return `${new Date(moment).toISOString().slice(0, 19)}Z`;
}

/** Fields of times: pages have them in UTC and say so; here they are in the reader's zone. */
export function localizeFields() {
  for (const field of document.querySelectorAll("input[type=datetime-local]")) {
    const [label] = field.labels;
    label.textContent = label.textContent.replace(" (UTC)", "");
    const own = Date.parse(`${field.defaultValue}Z`);
    // Otherwise the browser restored what the field had before a reload, in the reader's zone already.
    if (Date.parse(`${field.value}Z`) === own) field.value = field.defaultValue = fieldValue(new Date(own));
    field.form.addEventListener("formdata", ({ formData }) => {
      if (field.value) formData.set(field.name, inUTC(field.value));
    });
  }
}

export const withDigits = (digits) =>
  new Intl.NumberFormat(undefined, { minimumFractionDigits: digits, maximumFractionDigits: digits });

/** Times and numbers of a page as the reader writes them. */
export function localize(root) {
  for (const element of root.querySelectorAll("data")) {
    const digits = /\.(\d+)/.exec(element.textContent)?.[1].length ?? 0;
    element.replaceWith(element.textContent.replace(/^[\d,.]+/, withDigits(digits).format(element.value)));
  }
  for (const element of root.querySelectorAll("time[datetime]:not([title])")) {
    const moment = new Date(element.dateTime);
    if (Number.isNaN(moment.valueOf())) continue;
    element.textContent = dates ? written(moment) : short.format(moment);
    element.title = full.format(moment);
  }
}
