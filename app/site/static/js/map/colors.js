// The colors of css/colors.css, as a canvas needs them, and when they change.

const probe = document.createElement("span");
probe.hidden = true;
document.body.append(probe);
const known = new Map(); // to ask the browser takes a while

/** A color by its name in css/colors.css, as it is now: light or dark. */
export function color(name) {
  if (!known.has(name)) {
    probe.style.color = `var(--${name})`;
    known.set(name, getComputedStyle(probe).color);
  }
  return known.get(name);
}

/** Call a function whenever the page turns light or dark. */
export function onThemeChange(run) {
  const change = () => {
    known.clear();
    run();
  };
  document.addEventListener("themechange", change);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", change);
}
