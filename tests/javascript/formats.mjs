// Writes what js/formats.js makes of the calls on stdin, in each format: for tests/values/test_formats.py.

import { readFileSync } from "node:fs";

const { formats, calls } = JSON.parse(readFileSync(0, "utf8"));
const script = new URL("../../app/site/static/js/formats.js", import.meta.url);
const answers = [];
for (const [place, format] of formats.entries()) {
  globalThis.document = { documentElement: { dataset: { format: JSON.stringify(format), timeZone: "UTC" } } };
  const made = await import(`${script}?${place}`);
  answers.push(calls.map(([name, given]) => made[name](...given.map((each) => (each?.time ? new Date(each.time) : each)))));
}
process.stdout.write(JSON.stringify(answers));
