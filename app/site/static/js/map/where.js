// Where projects lie, in words of the server, which is asked when somebody looks at one for a moment.

import { load } from "../load.js";

const LOOK = 150; // milliseconds
const known = new Map();
let timer = null;

/** Where a project lies; never, if somebody looks at another one before. */
export async function whereItLies({ id }) {
  clearTimeout(timer);
  if (!known.has(id)) await new Promise((resolve) => (timer = setTimeout(resolve, LOOK)));
  if (!known.has(id)) known.set(id, load(`/projects/${id}/where`).catch(() => ""));
  return known.get(id);
}
