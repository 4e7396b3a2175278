// What part of the world a map shows: kept in the address, and a filter of the list beside it.

/** Put the map's place into the address, so that going back comes back to it. */
export function rememberView(map) {
  const { lat, lng } = map.getCenter().wrap();
  const view = `#map=${map.getZoom()}/${lat.toFixed(4)}/${lng.toFixed(4)}`;
  history.replaceState(history.state, "", location.pathname + location.search + view);
}

/** Show the place in the address. False if there is none. */
export function restoreView(map) {
  const found = /^#map=(\d+)\/(-?[\d.]+)\/(-?[\d.]+)$/.exec(location.hash);
  if (!found) return false;
  const [zoom, lat, lng] = found.slice(1).map(Number);
  map.setView([lat, lng], zoom, { animate: false });
  return true;
}

/** Let the list show what the map shows, if the reader wants that. */
export function followMap(map) {
  const field = document.getElementById("bbox");
  const isWanted = document.getElementById("in-view").checked;
  const bounds = map.getBounds();
  const isWorld = bounds.getEast() - bounds.getWest() >= 360;
  const sides = bounds.toBBoxString().split(",").map((side) => Number(side).toFixed(4));
  const wanted = isWanted && !isWorld ? sides.join(",") : "";
  if (wanted === field.value) return;
  field.value = wanted;
  window.htmx.trigger("#filters", "submit");
}
