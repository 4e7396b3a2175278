// What part of the world a map shows: kept in the address, and a filter of the list beside it.

/** What the map shows and a margin, in parts of its width and height, as a filter: west, south,
 * east and north within ±180 and ±90 degrees; empty for the whole world. */
export function boxOfView(map, margin = 0) {
  const bounds = map.getBounds().pad(margin);
  const [west, east] = [bounds.getWest(), bounds.getEast()];
  if (east - west >= 360) return "";
  const wrap = (degrees) => ((((degrees + 180) % 360) + 360) % 360) - 180;
  const latitude = (degrees) => Math.max(-90, Math.min(90, degrees));
  const sides = [wrap(west), latitude(bounds.getSouth()), wrap(east), latitude(bounds.getNorth())];
  return sides.map((side) => side.toFixed(4)).join(",");
}

/** Show the box of a GeoJSON member whole, beside the buttons of the map. */
export function showBox(map, [west, south, east, north], maxZoom = 14) {
  const bounds = [[south, west], [north, east < west ? east + 360 : east]];
  map.fitBounds(bounds, { paddingTopLeft: [56, 48], paddingBottomRight: [24, 40], maxZoom, animate: false });
}

/** Show layers whole, if there are any. */
export function showLayers(map, layers, maxZoom = 17) {
  const bounds = layers.getBounds();
  if (bounds.isValid()) map.fitBounds(bounds, { padding: [24, 24], maxZoom, animate: false });
}

/** Make places of GeoJSON positions, in the copy of the world that a map shows. */
export const placesOn =
  (map) =>
  ([longitude, latitude]) =>
    window.L.latLng(latitude, longitude + 360 * Math.round((map.getCenter().lng - longitude) / 360));

const VIEW = /^#map=(\d+)\/(-?[\d.]+)\/(-?[\d.]+)$/;
const keyOf = (path) => `canopy view ${document.documentElement.dataset.owner} ${path}`;

/** Put the map's place into the address, so that going back comes back to it, by links as well. */
export function rememberView(map) {
  const { lat, lng } = map.getCenter().wrap();
  const view = `#map=${map.getZoom()}/${lat.toFixed(4)}/${lng.toFixed(4)}`;
  history.replaceState(history.state, "", location.pathname + location.search + view);
  sessionStorage.setItem(keyOf(location.pathname), view);
  linkView();
}

/** Let links to pages with a map show there what this address says, or what was seen there last. */
export function linkView() {
  const own = VIEW.test(location.hash) && location.hash;
  for (const link of document.querySelectorAll("a[data-view]")) {
    link.hash = own || (sessionStorage.getItem(keyOf(link.pathname)) ?? "");
  }
}

/** Show the place in the address. False if there is none. */
export function restoreView(map) {
  const found = VIEW.exec(location.hash);
  if (!found) return false;
  const [zoom, lat, lng] = found.slice(1).map(Number);
  if (![zoom, lat, lng].every(Number.isFinite)) return false;
  map.setView([lat, lng], zoom, { animate: false });
  return true;
}

/** Let the list show what the map shows, if the reader wants that. */
export function followMap(map) {
  const field = document.getElementById("bbox");
  const isWanted = document.getElementById("in-view").checked;
  const wanted = isWanted ? boxOfView(map) : "";
  if (wanted === field.value) return;
  field.value = wanted;
  window.htmx.trigger("#filters", "submit");
}
