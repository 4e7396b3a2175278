// The colors of css/colors.css, as a canvas needs them, and when they change.

const probe = document.createElement("span");
probe.hidden = true;
document.body.append(probe);

/** A color by its name in css/colors.css, as it is now: light or dark. */
export function color(name) {
  probe.style.color = `var(--${name})`;
  return getComputedStyle(probe).color;
}

/** Call a function whenever the page turns light or dark. */
export function onThemeChange(run) {
  document.addEventListener("themechange", run);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", run);
}
