// Firefox, driven by WebDriver BiDi. Reads commands, each a line of JSON, and prints the answer to
// each, such as {"url": "…"} or {"error": "…"}.
import { createInterface } from "node:readline";

import puppeteer from "puppeteer-core";

const SECONDS = 30;
const browser = await puppeteer.launch({
  browser: "firefox",
  executablePath: process.argv[2],
  headless: true,
});
let context;
let page;

const commands = {
  version: () => browser.version(),
  // Begin without cookies, as another visitor.
  async forget() {
    await context?.close();
    context = await browser.createBrowserContext();
  },
  // In a new tab: one that was led to an unknown scheme waits for it.
  async go({ url }) {
    page = await context.newPage();
    page.setDefaultTimeout(SECONDS * 1000);
    await page.goto(url);
    return page.$eval("h1", (heading) => heading.innerText);
  },
  fill: ({ fields }) =>
    page.evaluate((values) => {
      for (const [name, text] of Object.entries(values)) {
        document.querySelector(`main [name=${name}], body > form [name=${name}]`).value = text;
      }
    }, fields),
  async press({ text }) {
    for (const each of await page.$$("main button, main a, body > form button")) {
      const isIt = await each.evaluate(
        (shown, wanted) => shown.innerText.trim() === wanted && shown.checkVisibility(),
        text,
      );
      if (isIt) return await outcomeOf(() => each.click());
    }
    throw new Error(`${page.url()} has no ${text}`);
  },
  enter: ({ field }) =>
    outcomeOf(async () => (await page.$(`main [name=${field}]`)).press("Enter")),
  show: ({ text }) => page.click(`summary ::-p-text(${text})`),
};

// Where a click leads: to a page, or to a scheme that no program on this machine has.
async function outcomeOf(click) {
  const failed = new Promise((resolve) => {
    const hear = (request) => {
      if (!request.failure()?.errorText.includes("UNKNOWN_PROTOCOL")) return;
      page.off("requestfailed", hear);
      resolve({ url: "", from: request.url() });
    };
    page.on("requestfailed", hear);
  });
  const arrived = page.waitForNavigation().then(() => ({ url: page.url() }));
  arrived.catch(() => {}); // it is late if the other came first
  await click();
  return Promise.race([failed, arrived]);
}

for await (const line of createInterface({ input: process.stdin })) {
  const { command, ...values } = JSON.parse(line);
  const answer = await Promise.resolve(commands[command](values)).catch((error) => ({
    error: error.message,
  }));
  console.log(JSON.stringify(answer ?? null));
}
await browser.close();
