// Latitude and longitude as people write them, read as the server reads them: its app/formats/readers/places.py
// takes grids and codes besides.

const WORDS = {
  N: "n north nord norte noord norr",
  S: "s south süd sued sud sur sul zuid syd",
  E: "e east est este leste ost oost öst øst",
  W: "w west ouest oeste ovest vest väst",
};
const LETTERS = new Map(Object.entries(WORDS).flatMap(([letter, words]) => words.split(" ").map((word) => [word, letter])));
const END = "(?!\\p{L})";
const LETTER = `(?:${[...LETTERS.keys()].sort((a, b) => b.length - a.length).join("|")})${END}`;
const PART = "[0-9]{1,3}(?:[.,][0-9]{1,20})?";
const DEGREE = `\\s*(?:°|d(?:eg(?:rees?)?)?${END}|grad${END})`;
const DEGREES = new RegExp(
  `^(?:(?<label>la|lo|ln)(?:t(?:itude)?|n(?:g(?:itude)?)?|g)${END}\\s*[:=]?\\s*)?(?<before>${LETTER})?\\s*(?<sign>[+-]?)\\s*` +
    `(?<degrees>${PART})(?:(?:(?<d>${DEGREE})\\s*|\\s*:\\s*|\\s+)(?<minutes>${PART})` +
    `(?:(?:(?<m>\\s*(?:'|(?<word>m(?:in)?${END})))\\s*|\\s*:\\s*|\\s+)(?<seconds>${PART})(?<unit>\\s*(?:"|se[ck]${END}))?` +
    `|\\s*(?:'|m(?:in)?${END}))?|${DEGREE})?\\s*(?<after>${LETTER})?$`,
  "iu",
);
const MOST = { latitude: 90, longitude: 180 };
const AXES = { N: "latitude", S: "latitude", E: "longitude", W: "longitude" };
const BETWEEN = /\s*[;/|]\s*|,\s+|,|\s+|(?<=[a-z])(?=[0-9+-])|(?<=[0-9°'"])(?=[nsew])/gi;
const LONGEST = 100;

const plain = (text) =>
  text
    .normalize("NFC")
    .replace(/[−‐‑–]/g, "-")
    .replace(/[º˚]/g, "°")
    .replace(/[′’‘´`ʹ]/g, "'")
    .replace(/[″”“ʺ]/g, '"')
    .replace(/([mM](?:in)?[0-9., ]{1,30})s(?!\p{L})/gu, '$1"') // but S is south
    .trim()
    .replaceAll("''", '"');

/** Degrees with their axis and the number of their parts, or null for a text that says none. */
function parse(text) {
  const found = text.length <= LONGEST && DEGREES.exec(plain(text))?.groups;
  if (!found || (found.before && found.after)) return null;
  const texts = [found.degrees, found.minutes, found.seconds].filter(Boolean);
  const parts = texts.map((part) => Number(part.replace(",", ".")));
  const isBroken = (part, n) => n < parts.length - 1 && (part % 1 || !(found[["d", "m"][n]] || /^[0-9]+$/.test(texts[n])));
  if (found.word && found.seconds && !found.unit && /^s$/i.test(found.after)) return null;
  if (parts.some(isBroken) || parts.slice(1).some((part) => part >= 60)) return null;
  const letter = LETTERS.get((found.before ?? found.after)?.toLowerCase());
  if ((found.sign === "-" && "NE".includes(letter ?? "?")) || (found.sign === "+" && "SW".includes(letter ?? "?"))) return null;
  const label = found.label && (found.label.toLowerCase() === "la" ? "latitude" : "longitude");
  if (label && letter && AXES[letter] !== label) return null;
  const degrees = parts.reduce((sum, part, place) => sum + part / 60 ** place, 0);
  const isNegative = found.sign === "-" || letter === "S" || letter === "W";
  return { value: isNegative ? -degrees : degrees, axis: label ?? AXES[letter], parts: parts.length };
}

/** Degrees, or null for a text that says none of this axis. */
export function readDegrees(text, axis) {
  const degrees = parse(text);
  return degrees && (degrees.axis ?? axis) === axis && Math.abs(degrees.value) <= MOST[axis] ? degrees.value : null;
}

/** Latitude and longitude of a text that has both, in the one way to divide it that makes sense; or null. */
export function readPlace(text) {
  const whole = plain(text).replace(/^[([](.*)[)\]]$/, "$1");
  const places = new Map();
  if (whole.length > LONGEST) return null;
  for (const { index, 0: between } of whole.matchAll(BETWEEN)) {
    const halves = [whole.slice(0, index), whole.slice(index + between.length)];
    if (between === "," && halves.some((half) => half.includes(","))) continue;
    let [first, second] = halves.map(parse);
    if (!first || !second || !belongTogether(first, second, between, whole)) continue;
    if (first.axis === "longitude" || second.axis === "latitude") [first, second] = [second, first];
    if (Math.abs(first.value) <= 90 && Math.abs(second.value) <= 180) places.set(`${first.value} ${second.value}`, [first.value, second.value]);
  }
  return places.size === 1 ? [...places.values()][0] : null;
}

function belongTogether(first, second, between, text) {
  if (first.axis && second.axis) return first.axis !== second.axis;
  if (between.trim() && between !== ",") return true;
  return first.parts === second.parts && (between === "," || !parse(text));
}
