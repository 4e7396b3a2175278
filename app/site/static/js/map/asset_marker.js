// An asset on a map, with the sign of its status.

const { L } = window;
const SIZE = 26; // pixels
const MOVED = "moved apart; the line leads to its place";

/** A marker at a GeoJSON position. sign: the SVG element that the page shows beside the status.
 * options: of L.marker. */
export function assetMarker([longitude, latitude], sign, name, options = {}) {
  const icon = L.divIcon({ html: sign.cloneNode(true), className: "asset-sign", iconSize: [SIZE, SIZE] });
  return L.marker([latitude, longitude], { icon, title: name, riseOnHover: true, ...options });
}

/** Keep markers that would cover each other apart, at each zoom: as many as can stay at their
 * places. A line leads to the place of one that had to move, and the map says so. */
export function spread(map, markers) {
  const lines = L.layerGroup().addTo(map);
  const note = L.control({ position: "bottomright" });
  note.onAdd = () => {
    const box = L.DomUtil.create("div", "map-coordinates");
    box.textContent = `Markers ${MOVED}`;
    return box;
  };
  const arrange = () => {
    lines.clearLayers();
    const places = markers.map((marker) => map.latLngToLayerPoint(marker.getLatLng()));
    const taken = [];
    const isFree = ({ x, y }) => taken.every((other) => Math.max(Math.abs(other.x - x), Math.abs(other.y - y)) >= SIZE);
    const stays = places.map((place) => isFree(place) && Boolean(taken.push(place)));
    markers.forEach((marker, number) => {
      const place = places[number];
      const point = stays[number] ? place : STEPS.map((step) => place.add(step)).find(isFree);
      const icon = marker.getElement();
      icon.style.marginLeft = `${point.x - place.x - SIZE / 2}px`;
      icon.style.marginTop = `${point.y - place.y - SIZE / 2}px`;
      icon.title = stays[number] ? marker.options.title : `${marker.options.title} (${MOVED})`;
      if (stays[number]) return;
      taken.push(point);
      const ends = [marker.getLatLng(), map.layerPointToLatLng(point)];
      L.polyline(ends, { className: "asset-line", weight: 1.5, interactive: false }).addTo(lines);
      L.circleMarker(ends[0], { className: "asset-place", radius: 2.5, interactive: false }).addTo(lines);
    });
    if (stays.every(Boolean)) note.remove();
    else note.addTo(map);
  };
  map.on("zoomend", arrange);
  map.whenReady(arrange);
}

// A page shows at most 100 assets, and each can be in the way of four of these steps.
const STEPS = [];
for (let x = -12; x <= 12; x += 1) for (let y = -12; y <= 12; y += 1) STEPS.push(L.point(x * SIZE, y * SIZE));
STEPS.sort((one, other) => Math.hypot(one.x, one.y) - Math.hypot(other.x, other.y));
