// Latitude and longitude as people write them, read as the server reads them.

const NUMBER = "\\d{1,3}(?:[.,]\\d{1,20})?";
const DEGREES = new RegExp(`^([A-Z]?)\\s*([+-]?)\\s*(${NUMBER})((?:\\s+${NUMBER}){0,2})\\s*([A-Z]?)$`);
// "48°30'46"N, 8°12'47"E", or two numbers with a comma and a space, a semicolon or a space between.
const BOTH = /^(?:(.+[NSns])[\s,;]+(\S.*)|([^,;\s]+(?:,\d+)?)(?:\s*;\s*|,?\s+)([^;\s]+))$/;
const AXES = { latitude: [90, "NS"], longitude: [180, "EWO"] };

/** Degrees, or null for a text that says none. */
export function readDegrees(text, axis) {
  const [most, letters] = AXES[axis];
  const plain = text.replaceAll("−", "-").replace(/[′’'″”"°º:]/g, " ").trim().toUpperCase();
  const found = DEGREES.exec(plain);
  if (!found || (found[1] && found[5])) return null;
  const letter = found[1] || found[5];
  if (letter && !letters.includes(letter)) return null;
  const parts = [found[3], ...found[4].split(/\s+/).filter(Boolean)].map((part) => Number(part.replace(",", ".")));
  if (parts.slice(1).some((part) => part >= 60) || parts.slice(0, -1).some((part) => part % 1)) return null;
  const degrees = parts.reduce((sum, part, place) => sum + part / 60 ** place, 0);
  if (degrees > most) return null;
  return (found[2] === "-") !== ["S", "W", "O"].includes(letter) ? -degrees : degrees;
}

/** The latitude and the longitude of a text that has both, as maps give them to copy; or null. */
export function splitBoth(text) {
  const found = BOTH.exec(text.trim());
  return found && (found[1] ? [found[1], found[2]] : [found[3], found[4]]);
}
