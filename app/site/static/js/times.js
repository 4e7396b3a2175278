// Times in the reader's zone. Pages have them in UTC, for those without scripts. What a person has
// chosen in their profile goes before what the browser does: the zone, the form, or both. Times
// with a title are complete.

const { dates, timeZone: chosen } = document.documentElement.dataset;
const timeZone = isKnown(chosen) ? chosen : undefined;
const short = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short", timeZone });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long", timeZone });
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

export function localizeTimes(root) {
  for (const element of root.querySelectorAll("time[datetime]:not([title])")) {
    const moment = new Date(element.dateTime);
    if (Number.isNaN(moment.valueOf())) continue;
    element.textContent = dates ? written(moment) : short.format(moment);
    element.title = full.format(moment);
  }
}
