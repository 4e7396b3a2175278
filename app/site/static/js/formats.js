// Numbers, units, dates and times as the reader writes them, like app/values/formats.py and with its
// data, which are on the root element; a test compares the two. Pages have times in UTC, for those
// without scripts: here they are put into the reader's zone, which is the browser's unless the profile
// has one. Times with a title are complete.

const ACRES = 2.4710538147; // of one hectare
const SIZES = [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"]];

const { format: written, timeZone: chosen } = document.documentElement.dataset;
const format = JSON.parse(written);
const timeZone = isKnown(chosen) ? chosen : undefined;
const digits = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "medium", timeZone });
const parts = new Intl.DateTimeFormat("en-US", {
  year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone,
});
const names = new Intl.DateTimeFormat("en-US", { weekday: "long", hour: "numeric", timeZoneName: "long", timeZone });

/** A browser may be older than the name of a zone. */
function isKnown(zone) {
  try {
    return Boolean(zone && new Intl.DateTimeFormat(undefined, { timeZone: zone }));
  } catch {
    return false;
  }
}

const named = (formatter, moment) =>
  Object.fromEntries(formatter.formatToParts(moment).map(({ type, value }) => [type, value]));

function joined(isNegative, whole, decimals) {
  const { first, second, group, minus, decimal } = format;
  let [rest, text] = [whole.slice(0, -first), whole.slice(-first)];
  for (; rest; rest = rest.slice(0, -second)) text = rest.slice(-second) + group + text;
  return `${isNegative ? minus : ""}${text}${decimals ? decimal : ""}${decimals}`;
}

/** A number with so many decimals; with trim without zeros at their end. */
export function number(value, digits = 0, { trim = false } = {}) {
  const [whole, decimals = ""] = Math.abs(value).toFixed(digits).split(".");
  const isNegative = value < 0 && Number(`${whole}.${decimals}`) !== 0;
  return joined(isNegative, whole, trim ? decimals.replace(/0+$/, "") : decimals);
}

/** An area with two decimals, below one hectare or acre with four. */
export function area(hectares) {
  const [size, unit] = format.area_unit === "acres" ? [hectares * ACRES, "ac"] : [hectares, "ha"];
  return `${number(size, size === 0 ? 0 : Math.abs(size) < 1 ? 4 : 2)} ${unit}`;
}

/** A share with one decimal: 0.306 is 30.6%. */
export const percent = (share, options) => format.percents.replace("{}", number(share * 100, 1, options));

/** A length in kilometers, or below one in meters. */
export const length = (kilometers, digits = 2, options) =>
  Math.abs(kilometers) < 1 ? `${number(kilometers * 1000)} m` : `${number(kilometers, digits, options)} km`;

/** A size in bytes, in units of powers of 1,000, with up to one decimal. */
export function bytes(size) {
  const [step, unit] = SIZES.find(([least]) => size >= least) ?? [1, size === 1 ? "byte" : "bytes"];
  return `${number(size / step, step === 1 ? 0 : 1, { trim: true })} ${unit}`;
}

/** A place: 46.4533° N 22.9657° E. */
export const degrees = (latitude, longitude, digits = 4) =>
  `${degree(latitude, "NS", digits)} ${degree(longitude, "EW", digits)}`;

/** A latitude or longitude: 22.9657° E. Letters are those above and below 0, and are left out at 0 and 180 degrees. */
export const degree = (value, letters, digits = 4, options = {}) =>
  `${number(Math.abs(value), digits, options)}°${[0, 180].includes(Math.abs(value)) ? "" : `\u00a0${letters[Number(value < 0)]}`}`;

function filled(pattern, moment) {
  const all = named(parts, moment);
  const hour = Number(all.hour);
  Object.assign(all, { hour12: ((hour + 11) % 12) + 1, half: hour < 12 ? format.am : format.pm });
  return pattern.replace(/\{(\w+)\}/g, (_, name) => all[name]);
}

/** The day of a moment in the reader's zone. */
export const date = (moment) => filled(format.dates, moment);

/** A moment in the reader's zone, to the minute. */
export const time = (moment) => filled(format.moments, moment);

/** The numbers in a sentence of the service in the reader's format, except in quotation marks, ids and versions. */
export const sentence = (text) =>
  text.replace(
    /“[^“”]*”|"[^"]*"|`[^`]*`|[A-Z][A-Za-z]{0,9}[A-Z][A-Za-z]{0,9} \d+\.\d+\b|(?<![\p{L}\p{N}_.,:/+-])(-?)(\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d+))?( ?%)?(?![\p{L}\p{N}_/]|[.,:-][\p{L}\p{N}_])/gu,
    (all, sign, whole, decimals = "", share) => {
      if (!whole || !(whole.includes(",") || decimals || share)) return all;
      const text = whole.includes(",") ? joined(sign, whole.replaceAll(",", ""), decimals) : `${sign && format.minus}${whole}${decimals && format.decimal}${decimals}`;
      return share ? format.percents.replace("{}", text) : text;
    },
  );

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

/** Times of a page in the reader's zone. */
export function localizeTimes(root) {
  for (const element of root.querySelectorAll("time[datetime]:not([title])")) {
    const moment = new Date(element.dateTime);
    if (Number.isNaN(moment.valueOf())) continue;
    const { weekday, timeZoneName } = named(names, moment);
    element.textContent = time(moment);
    element.title = `${weekday}, ${element.textContent}, ${timeZoneName}`;
  }
}
