// What a map of projects is colored by, and its legend, which highlights the color that is pointed at.

import { color } from "./colors.js";
import { results } from "./list_and_map.js";

const { L } = window;

export class Legend {
  /** panel: the details of the page, which become a control; onChange(): the map has to be painted
   * anew. */
  constructor(map, panel, onChange) {
    const control = L.control({ position: "bottomright" });
    control.onAdd = () => panel;
    control.addTo(map);
    L.DomEvent.disableClickPropagation(panel).disableScrollPropagation(panel);
    this.panel = panel;
    this.onChange = onChange;
    this.rows = [];
    this.chosen = null; // the row that is highlighted
    panel.addEventListener("toggle", () => this.load());
    const highlight = (target) => this.highlight(target?.closest("button") ?? panel.querySelector("[aria-pressed=true]"));
    for (const event of ["pointermove", "focusin"]) panel.addEventListener(event, ({ target }) => highlight(target));
    for (const event of ["pointerleave", "focusout"]) panel.addEventListener(event, () => highlight(null));
    panel.addEventListener("click", ({ target }) => {
      const pressed = target.closest("button");
      if (!pressed) return;
      for (const row of this.rows) row.ariaPressed = String(row === pressed && row.ariaPressed !== "true");
    });
    panel.addEventListener("change", ({ target }) => {
      document.querySelector("#filters [name=color_by]").value = target.value;
      window.htmx.trigger("#filters", "submit");
    });
    document.addEventListener("htmx:after:swap", () => this.load());
    this.load();
    panel.open = Boolean(this.by) && matchMedia("(min-width: 52rem)").matches;
  }

  async load() {
    const { legend: address, map } = results().dataset;
    this.by = new URL(map, location.href).searchParams.get("color_by");
    if (address === this.address || !(this.panel.open || this.by)) return;
    this.address = address;
    const response = await fetch(address, { headers: { "X-Requested-With": "fetch" } }).catch(() => null);
    if (address !== this.address) return;
    if (!response?.ok) this.address = ""; // it is tried again when it is opened again
    const made = new DOMParser().parseFromString(
      response?.ok ? await response.text() : "<p>The colors could not be loaded.</p>",
      "text/html",
    );
    const hasFocus = document.activeElement?.id === "color-by";
    this.panel.lastElementChild.replaceChildren(...made.body.childNodes);
    this.rows = [...this.panel.querySelectorAll("[data-color]")];
    for (const row of this.rows) row.firstElementChild.style.color = `var(--${row.dataset.color})`;
    if (hasFocus) document.getElementById("color-by").focus();
    this.chosen = null;
    this.onChange();
  }

  highlight(row) {
    if (row === this.chosen) return;
    this.chosen = row;
    this.onChange();
  }

  /** How a project is drawn, as ProjectsLayer takes it. */
  lookOf({ status, value }) {
    const { by } = this;
    const row = this.rowOf(by ? value : status);
    const opacity = this.chosen && row !== this.chosen ? 0.15 : 1;
    if (!by) return { opacity };
    return { opacity, color: color(row?.dataset.color ?? "archived"), fill: 0.5, dashes: value === undefined ? [2, 3] : [] };
  }

  rowOf(value) {
    const found = this.rows.find(({ dataset }) => {
      if (value === undefined) return "none" in dataset;
      return "most" in dataset ? Number(value) <= Number(dataset.most) : dataset.value === value;
    });
    const isRest = ({ dataset: { value: own, most, none } }) => [own, most, none].every((each) => each === undefined);
    return found ?? this.rows.find(isRest) ?? null;
  }
}
