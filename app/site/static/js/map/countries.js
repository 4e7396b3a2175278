// The names of countries on the map.

const { L } = window;
const LETTER = 8; // pixels of a letter, nearly
const MOST_ZOOM = 8; // beyond it, the middle of a country is rarely in view

/** Write the names of countries where there is room for them. countries: as land_worker.js has them. */
export function showCountries(map, countries) {
  const pane = map.createPane("countries");
  pane.style.zIndex = 250; // above land, below what people have drawn
  pane.style.pointerEvents = "none";
  const names = L.layerGroup().addTo(map);
  const show = () => {
    names.clearLayers();
    const zoom = map.getZoom();
    if (zoom > MOST_ZOOM) return;
    for (const { name, place, box: [west, , east] } of countries) {
      const room = ((east - west) / 360) * 256 * 2 ** zoom;
      if (room < name.length * LETTER) continue;
      const label = document.createElement("span");
      label.textContent = name;
      const icon = L.divIcon({ html: label, className: "country-name", iconSize: null });
      L.marker(place, { icon, pane: "countries", interactive: false, keyboard: false }).addTo(names);
    }
  };
  map.on("zoomend", show);
  show();
}
