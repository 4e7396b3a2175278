// The colors of css/colors.css, as a canvas needs them, and when they change.

const probe = document.createElement("span");
probe.hidden = true;
document.body.append(probe);
const known = new Map(); // to ask the browser takes a while
const dark = matchMedia("(prefers-color-scheme: dark)");
onThemeChange(() => known.clear());

/** A color by its name in css/colors.css, as it is now: light or dark. */
export function color(name) {
  if (!known.has(name)) {
    probe.style.color = `var(--${name})`;
    known.set(name, getComputedStyle(probe).color);
  }
  return known.get(name);
}

/** Call a function whenever the page turns light or dark, until the function that this returns is
 * called. */
export function onThemeChange(run) {
  document.addEventListener("themechange", run);
  dark.addEventListener("change", run);
  return () => {
    document.removeEventListener("themechange", run);
    dark.removeEventListener("change", run);
  };
}
