// What the server says of the boundary while it is drawn: hectares, faults with their places, overlaps.

import { area, degrees, percent, sentence } from "../formats.js";

const { L } = window;
const WAIT = 250; // milliseconds after the last change
const RETRY = 1200;
const PATIENCE = 5000; // when the form is sent

const element = (name, text, className = "") => {
  const made = document.createElement(name);
  made.textContent = text;
  made.className = className;
  return made;
};

const button = (text, className, run) => {
  const made = Object.assign(element("button", text, className), { type: "button" });
  made.addEventListener("click", run);
  return made;
};

// What warnings are called, one and several.
const WARNINGS = {
  spike: ["spike", "spikes"],
  repeated_position: ["repeated corner", "repeated corners"],
  sliver: ["sliver", "slivers"],
  in_the_sea: ["part far from land", "parts far from land"],
  several_countries: ["part in another country", "parts in another country"],
  countries_not_checked: ["shape too complex to compare with countries", ""],
};

function swapped({ type, coordinates }) {
  const turn = (value) => (Array.isArray(value[0]) ? value.map(turn) : [value[1], value[0], ...value.slice(2)]);
  return { type, coordinates: turn(coordinates) };
}

export class Report {
  /** project: the id of the one that is edited, or empty. use(geometry): take it in place of what
   * was checked. */
  constructor(map, project, use) {
    this.map = map;
    this.project = project;
    this.use = use;
    this.right = new Set(); // the questions on its place that were answered so
    this.faults = L.featureGroup().addTo(map);
    this.request = null;
    this.pending = null; // the answer to the last check
  }

  /** Check a text soon. Resolves with the answer; with null if there is none, or another check came
   * first. */
  check(text) {
    this.request?.abort();
    const { signal } = (this.request = new AbortController());
    document.getElementById("report").classList.add("is-old");
    return (this.pending = this._after(WAIT, text, signal));
  }

  /** Wait for the check, some seconds at most. True the first time that a question is open then: the
   * reader is led to it. */
  async asks() {
    await Promise.race([this.pending, new Promise((resolve) => setTimeout(resolve, PATIENCE))]);
    const box = document.getElementById("report");
    const question = box.querySelector("[data-question]");
    if (!question || question.dataset.question === "seen") return false;
    question.dataset.question = "seen";
    question.append(element("p", "Answer first, or press the button again to save it as it is."));
    question.scrollIntoView({ block: "center" });
    box.focus();
    return true;
  }

  async _after(milliseconds, text, signal) {
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
    return signal.aborted ? null : this._send(text, signal);
  }

  async _send(text, signal) {
    const form = new FormData();
    form.set("geometry", text);
    form.set("project_id", this.project);
    try {
      const response = await fetch("/projects/check", {
        method: "POST",
        body: form,
        signal,
        headers: {
          "X-Requested-With": "fetch",
          "X-CSRFToken": document.querySelector("#editor-form [name=csrf_token]").value,
        },
      });
      const answer = await response.json();
      if (response.ok) {
        this.show(answer.data, text);
        return answer.data;
      }
      this._say(answer.error.message);
      if (response.status === 503) return this._after(RETRY, text, signal);
    } catch (error) {
      if (error.name !== "AbortError") {
        this._say("No connection, so the boundary is not checked. Your work is kept in this browser.");
      }
    }
    return null;
  }

  show(data, text) {
    const box = document.getElementById("report");
    box.classList.remove("is-old");
    this.faults.clearLayers();
    this.map.getContainer().classList.toggle("has-faults", data.problems.length > 0);
    if (data.problems.length) {
      const list = element("ul", "", "problems");
      data.problems.forEach((problem) => list.append(this._fault(problem)));
      box.replaceChildren(element("p", "This boundary cannot be saved yet:"), list);
    } else if (data.area_hectares === null) {
      box.replaceChildren(element("p", text.trim() ? "" : "No boundary yet. Draw it on the map, or paste it below.", "quiet"));
    } else {
      const size = element("p", area(data.area_hectares), "area");
      const where = element("p", data.where);
      box.replaceChildren(size, where, ...this._question(data), ...this._overlaps(data), ...this._warnings(data));
    }
  }

  /** What the server asks about a boundary in a place where it expects none. */
  _question({ question, geometry }) {
    if (!question || this.right.has(question.message)) return [];
    const box = element("div", "", "notice warning");
    box.dataset.question = "new";
    const actions = element("p", "", "actions");
    const offer = (text, run) => {
      const answer = () => {
        run();
        document.getElementById("report").focus();
      };
      actions.append(button(text, "small plain", answer));
    };
    box.append(element("p", question.message));
    if (question.swapped) {
      box.append(element("p", question.swapped));
      offer("Swap latitude and longitude", () => this.use(swapped(geometry)));
    }
    offer("It is right", () => {
      this.right.add(question.message);
      box.remove();
    });
    box.append(actions);
    return [box];
  }

  _say(message) {
    const box = document.getElementById("report");
    box.classList.remove("is-old");
    box.replaceChildren(element("p", message, "problems"));
  }

  _fault({ message, coordinates }) {
    const item = element("li", sentence(message));
    if (!coordinates) return item;
    const place = [coordinates[1], coordinates[0]];
    item.append(" ", element("span", degrees(...place, 5), "quiet numbers"));
    const mark = L.circleMarker(place, { radius: 9, className: "fault", pmIgnore: true, snapIgnore: true });
    mark.bindTooltip(element("span", sentence(message))).addTo(this.faults);
    const show = () => {
      this.map.setView(place, Math.min(this.map.getZoom() + 2, 18), { animate: false });
      mark.openTooltip();
    };
    item.append(" ", button("Show it", "link", show));
    return item;
  }

  /** A line for all warnings of a kind: they are seldom of interest. */
  _warnings({ warnings }) {
    return Object.entries(WARNINGS).flatMap(([code, [one, several]]) => {
      const found = warnings.filter((warning) => warning.code === code);
      if (!found.length) return [];
      const line = element("p", `${found.length} ${found.length > 1 ? several : one} `, "quiet");
      if (!found[0].coordinates) return [line]; // of the whole boundary
      line.append(button("Show", "link", () => this._mark(found)));
      return [line];
    });
  }

  _mark(warnings) {
    this.faults.clearLayers();
    for (const { message, coordinates: [longitude, latitude] } of warnings) {
      const mark = L.circleMarker([latitude, longitude], { radius: 7, className: "warning", pmIgnore: true, snapIgnore: true });
      mark.bindTooltip(element("span", sentence(message))).addTo(this.faults);
    }
    this.map.fitBounds(this.faults.getBounds(), { maxZoom: 16, animate: false });
  }

  _overlaps({ overlaps, complete }) {
    if (!overlaps.length) {
      return [element("p", complete ? "Valid, and overlaps with no other project." : "Valid.", "quiet")];
    }
    const list = element("ul", "");
    for (const { project_id: id, name, overlap_hectares: hectares, share } of overlaps) {
      const item = element("li", "");
      const link = element("a", name);
      link.href = `/projects/${id}`;
      link.target = "_blank";
      link.dir = "auto";
      item.append(link, ` by ${area(hectares)} (${percent(share)})`);
      list.append(item);
    }
    return [element("p", "Valid, but overlaps with:", ""), list];
  }
}
