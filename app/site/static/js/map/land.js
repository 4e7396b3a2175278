// Land, borders and a graticule, from the app's own files: the map without any other server.

import { color } from "./colors.js";
import { outline, ShapeTiles, TILE_OPTIONS } from "./shape_tiles.js";

// Degrees between the lines of the graticule, by zoom.
const STEPS = [45, 30, 30, 15, 10, 5, 2, 1, 0.5, 0.25, 0.1, 0.05, 0.05, 0.02, 0.01];

function drawLand(context, features, { scale, coords, size }) {
  context.fillStyle = color("sea");
  context.fillRect(0, 0, size, size);
  for (const feature of features) {
    const path = outline(feature, scale);
    if (feature.type === 3) {
      context.fillStyle = color("land");
      context.fill(path, "evenodd");
    }
    context.strokeStyle = color("border");
    context.lineWidth = feature.type === 3 ? 0.8 : 1;
    context.setLineDash(feature.type === 3 ? [] : [4, 3]);
    context.stroke(path);
  }
  context.setLineDash([]);
  drawGraticule(context, coords, size);
}

function drawGraticule(context, { x, y, z }, size) {
  const step = STEPS[Math.min(z, STEPS.length - 1)];
  const tiles = 2 ** z;
  const longitude = (px) => ((x + px / size) / tiles) * 360 - 180;
  const latitude = (py) => (Math.atan(Math.sinh(Math.PI * (1 - (2 * (y + py / size)) / tiles))) * 180) / Math.PI;
  const column = (degrees) => (((degrees + 180) / 360) * tiles - x) * size;
  const row = (degrees) => {
    const mercator = Math.asinh(Math.tan((degrees * Math.PI) / 180)) / Math.PI;
    return (((1 - mercator) / 2) * tiles - y) * size;
  };
  context.strokeStyle = color("graticule");
  context.lineWidth = 0.5;
  for (let line = Math.ceil(longitude(0) / step) * step; line <= longitude(size); line += step) {
    stroke(context, column(line), 0, column(line), size);
  }
  for (let line = Math.ceil(latitude(size) / step) * step; line <= latitude(0); line += step) {
    if (Math.abs(line) < 85) stroke(context, 0, row(line), size, row(line));
  }
}

function stroke(context, x1, y1, x2, y2) {
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x2, y2);
  context.stroke();
}

/** Tiles that land_worker.js cuts. */
class LandTiles {
  constructor(address, onReady) {
    this.waiting = new Map();
    this.worker = new Worker(new URL("land_worker.js", import.meta.url));
    this.worker.onmessage = ({ data }) => {
      if (data.countries) return onReady(data.countries);
      this.waiting.get(data.number)(data.features);
      this.waiting.delete(data.number);
    };
    this.worker.postMessage({ load: address, options: { ...TILE_OPTIONS, buffer: 64 } });
    this.number = 0;
  }

  features(...tile) {
    const number = (this.number += 1);
    this.worker.postMessage({ number, tile });
    return new Promise((resolve) => this.waiting.set(number, resolve));
  }
}

/** The layer; it fills in when its file has come. onReady(countries): as land_worker.js has them. */
export function landLayer(address, onReady) {
  const layer = new ShapeTiles(drawLand, { attribution: "Land and borders: Natural Earth", zIndex: 1 });
  const start = (countries) => {
    layer.repaint();
    onReady(countries);
  };
  layer.setTiles(new LandTiles(new URL(address, location.href).href, start));
  return layer;
}
