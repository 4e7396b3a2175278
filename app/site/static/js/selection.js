// The rows that are selected in a list. The bar below the list says how many; without any it is
// not there.

import { number } from "./formats.js";

export function showSelection() {
  const count = document.querySelectorAll("#results input[name=ids]:checked").length;
  document.dispatchEvent(new Event("selection")); // for the map
  const bar = document.getElementById("selection-bar");
  if (!bar) return;
  bar.hidden = count === 0;
  document.getElementById("selected-count").textContent = `${number(count)} selected`;
}

document.addEventListener("change", ({ target }) => {
  if (target.name === "ids") showSelection();
});
showSelection();
