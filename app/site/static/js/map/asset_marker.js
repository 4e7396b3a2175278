// An asset on a map, with the sign of its status.

const { L } = window;

/** A marker at a GeoJSON position. sign: the SVG element that the page shows beside the status.
 * options: of L.marker. */
export function assetMarker([longitude, latitude], sign, name, options = {}) {
  const icon = L.divIcon({ html: sign.cloneNode(true), className: "asset-sign", iconSize: [26, 26] });
  return L.marker([latitude, longitude], { icon, title: name, riseOnHover: true, ...options });
}
