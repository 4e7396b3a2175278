// An asset on a map, with the sign of its status.

const { L } = window;
const SIZE = 26; // pixels

/** A marker at a GeoJSON position. sign: the SVG element that the page shows beside the status.
 * options: of L.marker. */
export function assetMarker([longitude, latitude], sign, name, options = {}) {
  const icon = L.divIcon({ html: sign.cloneNode(true), className: "asset-sign", iconSize: [SIZE, SIZE] });
  return L.marker([latitude, longitude], { icon, title: name, riseOnHover: true, ...options });
}

/** Keep markers that would cover each other apart, at each zoom. A line leads to the place of one
 * that had to move. */
export function spread(map, markers) {
  const lines = L.layerGroup().addTo(map);
  const arrange = () => {
    lines.clearLayers();
    const taken = [];
    for (const marker of markers) {
      const place = map.latLngToLayerPoint(marker.getLatLng());
      const free = freePoint(place, taken);
      taken.push(free);
      const { style } = marker.getElement();
      style.marginLeft = `${free.x - place.x - SIZE / 2}px`;
      style.marginTop = `${free.y - place.y - SIZE / 2}px`;
      if (free === place) continue;
      const ends = [marker.getLatLng(), map.layerPointToLatLng(free)];
      L.polyline(ends, { className: "asset-line", weight: 1.5, interactive: false }).addTo(lines);
    }
  };
  map.on("zoomend", arrange);
  map.whenReady(arrange);
}

/** The point nearest to a place at which a marker covers none of those at the points taken. */
function freePoint(place, taken) {
  const isFree = ({ x, y }) => taken.every((other) => Math.max(Math.abs(other.x - x), Math.abs(other.y - y)) >= SIZE);
  return isFree(place) ? place : STEPS.map((step) => place.add(step)).find(isFree);
}

// A page shows at most 100 assets, and each can be in the way of four of these steps.
const STEPS = [];
for (let x = -12; x <= 12; x += 1) for (let y = -12; y <= 12; y += 1) STEPS.push(L.point(x * SIZE, y * SIZE));
STEPS.sort((one, other) => Math.hypot(one.x, one.y) - Math.hypot(other.x, other.y));
