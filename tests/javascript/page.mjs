// A page in jsdom on which the scripts of the pages run as they are: modules that import each other,
// with Leaflet and Geoman as browsers get them. Each page has its own globals, its own clock, which
// stands still until a test lets it pass, and a server that is a function of the test.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import vm from "node:vm";

const STATIC = new URL("../../app/site/static/", import.meta.url);
const { JSDOM, VirtualConsole } = createRequire(`${process.env.CANOPY_NODE_MODULES}/`)("jsdom");
const ORIGIN = "https://forest.example.org";

// As a page has it for en-US.
const FORMAT = {
  decimal: ".", group: ",", minus: "-", first: 3, second: 3, percents: "{}%", dates: "{month}/{day}/{year}",
  moments: "{month}/{day}/{year}, {hour12}:{minute} {half}", am: "AM", pm: "PM", area_unit: "hectares",
};

const texts = new Map();
const compiled = new Map();

/** The text of a file of the pages. */
export function source(path) {
  if (!texts.has(path)) texts.set(path, readFileSync(new URL(path, STATIC), "utf8"));
  return texts.get(path);
}

/** A classic script of the pages, such as Leaflet. */
export function classic(path) {
  if (!compiled.has(path)) compiled.set(path, new vm.Script(source(path), { filename: path }));
  return compiled.get(path);
}

/** Let everything happen that waits for nothing but promises. */
export const settle = () => new Promise((resolve) => setImmediate(resolve));

/** A canvas notes what is called on it; nothing is drawn. */
function context(canvas) {
  const called = [];
  const known = { canvas, called, measureText: (text) => ({ width: 7 * text.length }) };
  return new Proxy(known, {
    get: (target, name) => target[name] ?? ((...given) => void called.push([name, ...given])),
  });
}

class Clock {
  constructor(window) {
    this.now = Date.UTC(2026, 0, 31, 12);
    this.timers = new Map();
    this.last = 0;
    window.Date.now = () => this.now;
    window.setTimeout = (run, wait = 0, ...given) => {
      this.timers.set((this.last += 1), { at: this.now + wait, run: () => run(...given) });
      return this.last;
    };
    window.clearTimeout = (number) => this.timers.delete(number);
  }

  /** Milliseconds until each timer, the next one first. */
  get waits() {
    return [...this.timers.values()].map(({ at }) => at - this.now).sort((one, other) => one - other);
  }

  async pass(milliseconds) {
    const end = this.now + milliseconds;
    for (;;) {
      await settle();
      const due = [...this.timers].filter(([, { at }]) => at <= end).sort(([, one], [, other]) => one.at - other.at)[0];
      if (!due) break;
      this.timers.delete(due[0]);
      this.now = Math.max(this.now, due[1].at);
      due[1].run();
    }
    this.now = end;
  }
}

export class Page {
  /** body: HTML. path: with query and fragment. answer({path, query, options}): what the server says,
   * as [status, body, headers]; a body that is no text is sent as JSON; it may throw, as when there is
   * no connection. The attributes of the root element are in root, what differs from the format of en-US in format. */
  constructor(body, { path = "/", answer = () => [404, {}], root = "", format = {}, classics = [], setUp = () => {} } = {}) {
    this.problems = [];
    const virtualConsole = new VirtualConsole();
    virtualConsole.on("jsdomError", (error) => this.problems.push(error));
    const html = `<!doctype html><html lang="en" data-format='${JSON.stringify({ ...FORMAT, ...format })}' ${root}><body>${body}<div id="toasts"></div></body></html>`;
    this.dom = new JSDOM(html, { url: `${ORIGIN}${path}`, runScripts: "outside-only", pretendToBeVisual: true, virtualConsole });
    this.window = this.dom.window;
    this.document = this.window.document;
    this.context = this.dom.getInternalVMContext();
    this.modules = new Map();
    this.requests = [];
    this.answer = answer;
    this.clock = new Clock(this.window);
    this._complete();
    setUp(this.window);
    for (const each of classics) classic(`third_party/${each}`).runInContext(this.context);
  }

  /** What jsdom does not have. */
  _complete() {
    const { window } = this;
    const { prototype } = window.HTMLElement;
    prototype.scrollIntoView = function () {
      this.wasScrolledTo = true;
    };
    Object.defineProperty(prototype, "clientWidth", { get: () => 800 });
    Object.defineProperty(prototype, "clientHeight", { get: () => 600 });
    window.HTMLCanvasElement.prototype.getContext = function () {
      return (this.context ??= context(this));
    };
    window.Path2D = class {
      moveTo() {}
      lineTo() {}
      closePath() {}
    };
    window.performance.mark = () => {};
    window.reportError = (error) => this.problems.push(error);
    window.ResizeObserver = class {
      observe() {}
    };
    window.matchMedia = () => ({ matches: false, addEventListener() {}, removeEventListener() {} });
    window.fetch = (address, options = {}) => this._fetch(new URL(address, window.location.href), options);
    window.htmx = { triggered: [], trigger: (...given) => window.htmx.triggered.push(given) };
  }

  async _fetch(url, options) {
    const request = { path: url.pathname, query: Object.fromEntries(url.searchParams), options };
    this.requests.push(request);
    const { signal } = options;
    const aborted = new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
    const [status, body, headers] = await Promise.race([this.answer(request), aborted]);
    return new Response(typeof body === "string" ? body : JSON.stringify(body), { status, headers });
  }

  /** Run a module of static/js and what it imports; gives what it exports. */
  async load(path) {
    const module = this._module(new URL(`${ORIGIN}/static/js/${path}`));
    if (module.status === "unlinked") await module.link((name, from) => this._module(new URL(name, from.identifier)));
    await module.evaluate();
    await settle();
    return module.namespace;
  }

  _module({ href, pathname }) {
    if (!this.modules.has(href)) {
      const options = {
        context: this.context,
        identifier: href,
        initializeImportMeta: (meta) => (meta.url = href),
      };
      const made = new vm.SourceTextModule(source(pathname.replace("/static/", "")), options);
      this.modules.set(href, made);
    }
    return this.modules.get(href);
  }

  byId(id) {
    return this.document.getElementById(id);
  }

  find(selector) {
    return this.document.querySelector(selector);
  }

  all(selector) {
    return [...this.document.querySelectorAll(selector)];
  }

  /** The messages in the corner. */
  get toasts() {
    return this.all("#toasts p").map(({ textContent }) => textContent);
  }

  /** Let an event happen; false if it was prevented. detail: as htmx gives it. */
  fire(target, name, detail, more = {}) {
    const { CustomEvent } = this.window;
    const event = new CustomEvent(name, { bubbles: true, cancelable: true, detail });
    return target.dispatchEvent(Object.assign(event, more));
  }

  /** Write into a field as a person does. */
  type(field, value) {
    field.value = value;
    this.fire(field, "input");
    this.fire(field, "change");
  }
}

/** What a page hands out is of its own realm; this is the same of ours, to compare. */
export const plain = (value) => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));
