// The boundary that is being drawn: its parts on the map, the tools that change them, undo and redo.

import { showLayers } from "../map/view.js";

const { L } = window;
const STYLE = { className: "drawn" };
// Geoman shows the corners near the pointer only, so that large boundaries stay quick.
const CORNERS = { limitMarkersToCount: 60, allowSelfIntersection: true, snapDistance: 12, removeLayerBelowMinVertexCount: true };

export class Boundary {
  /** onChange(geometry): after each change; onDrawing(geometry): while a part is being drawn. */
  constructor(map, onChange, onDrawing) {
    this.map = map;
    this.onChange = onChange;
    this.onDrawing = onDrawing;
    this.parts = L.featureGroup().addTo(map);
    this.past = [];
    this.future = [];
    this.current = "null";
    this.tool = null;
    this.isLocked = false; // while no tool may be taken
    map.pm.setGlobalOptions({
      ...CORNERS,
      snappable: true,
      tooltips: false,
      continueDrawing: false,
      layerGroup: this.parts,
      pathOptions: STYLE,
      templineStyle: { className: "drawing" },
      hintlineStyle: { className: "drawing" },
    });
    map.on("pm:create", ({ layer }) => {
      this._adopt(layer);
      this._changed();
      this.use(null);
    });
    map.on("mousemove", () => map.getContainer().classList.add("has-pointer"));
    map.on("pm:drawstart", ({ workingLayer }) => {
      this.drawing = workingLayer;
      workingLayer.on("pm:vertexadded pm:vertexremoved", () => this._drawing(workingLayer));
    });
    map.on("pm:drawend", () => {
      if (this.tool) this.use(null); // its only corner was removed, or a cut met no part
    });
    map.on("pm:cut", ({ layer }) => {
      this._adopt(layer);
      this._changed();
      this.use(null);
    });
    map.on("pm:remove", ({ layer }) => {
      this.parts.removeLayer(layer);
      this._changed();
    });
  }

  /** A GeoJSON Polygon or MultiPolygon, or null. */
  get geometry() {
    return JSON.parse(this.current);
  }

  /** Show another geometry; it can be undone. */
  set(geometry) {
    this._show(geometry);
    this._changed();
  }

  /** Begin with a geometry. */
  begin(geometry) {
    this._show(geometry);
    this.current = JSON.stringify(this._collect());
    this.past = [];
    this.future = [];
  }

  /** Take a tool: draw, edit, drag, cut, remove, or null for none. */
  use(tool) {
    const { pm } = this.map;
    const former = this.tool;
    this.tool = null;
    pm.disableDraw();
    if (pm.globalEditModeEnabled()) pm.disableGlobalEditMode();
    if (pm.globalDragModeEnabled()) pm.disableGlobalDragMode();
    if (pm.globalRemovalModeEnabled()) pm.disableGlobalRemovalMode();
    this.tool = this.isLocked || former === tool ? null : tool;
    this.drawing = null;
    this._drawn(null);
    this.map.getContainer().classList.remove("has-pointer"); // the next corner is nowhere yet
    if (this.tool === "draw") pm.enableDraw("Polygon", { finishOn: "dblclick" });
    if (this.tool === "edit") pm.enableGlobalEditMode(CORNERS);
    if (this.tool === "drag") pm.enableGlobalDragMode();
    if (this.tool === "cut") pm.enableDraw("Cut", { layersToCut: this.parts.getLayers(), finishOn: "dblclick" });
    if (this.tool === "remove") pm.enableGlobalRemovalMode();
    this.map.fire("toolchange", { tool: this.tool });
  }

  get canUndo() {
    const isDrawing = this.tool === "draw" || this.tool === "cut";
    return isDrawing ? Boolean(this.drawing?.getLatLngs().length) : this.past.length > 0;
  }

  get canRedo() {
    return this.future.length > 0;
  }

  undo() {
    if (this.tool === "draw" || this.tool === "cut") {
      this.map.pm.Draw[this.tool === "draw" ? "Polygon" : "Cut"]._removeLastVertex();
      return;
    }
    this._step(this.past, this.future);
  }

  redo() {
    this._step(this.future, this.past);
  }

  fit() {
    showLayers(this.map, this.parts);
  }

  _step(from, to) {
    if (!from.length) return;
    const { tool } = this;
    this.use(null);
    to.push(this.current);
    this.current = from.pop();
    this._show(this.geometry);
    this.onChange(this.geometry);
    if (tool) this.use(tool);
  }

  _show(geometry) {
    this.parts.clearLayers();
    if (!geometry) return;
    const polygons = geometry.type === "Polygon" ? [geometry.coordinates] : geometry.coordinates;
    for (const rings of polygons) {
      this._adopt(L.polygon(rings.map((ring) => ring.slice(0, -1).map(([lng, lat]) => [lat, lng])), STYLE));
    }
  }

  _adopt(layer) {
    this.parts.addLayer(layer);
    layer.on("pm:edit pm:dragend", () => this._changed());
    layer.on("click", () => {
      if (!this.tool && !this.isLocked) this.use("edit");
    });
  }

  _collect() {
    const polygons = this.parts.getLayers().flatMap((layer) => {
      const { geometry } = layer.toGeoJSON(9);
      return geometry.type === "Polygon" ? [geometry.coordinates] : geometry.coordinates;
    });
    const shapes = polygons.filter((rings) => rings[0]?.length > 3);
    if (!shapes.length) return null;
    return shapes.length === 1
      ? { type: "Polygon", coordinates: shapes[0] }
      : { type: "MultiPolygon", coordinates: shapes };
  }

  _changed() {
    const now = JSON.stringify(this._collect());
    if (now === this.current) return;
    this.past.push(this.current);
    this.future = [];
    this.current = now;
    this.isDrawingTold = false;
    this.onChange(this.geometry);
  }

  /** What there would be if the part that is being drawn ended here. */
  _drawing(workingLayer) {
    this.map.fire("toolchange", { tool: this.tool }); // there is something to undo
    const corners = workingLayer.getLatLngs().map(({ lng, lat }) => [lng, lat]);
    if (this.tool === "draw") this._drawn(corners.length < 3 ? null : [...corners, corners[0]]);
  }

  /** Tell what there would be with another ring; without one, what there is, if that was told
   * otherwise before. */
  _drawn(ring) {
    if (!ring && !this.isDrawingTold) return;
    this.isDrawingTold = Boolean(ring);
    const others = this.geometry;
    const polygons = !others ? [] : others.type === "Polygon" ? [others.coordinates] : others.coordinates;
    this.onDrawing(ring ? { type: "MultiPolygon", coordinates: [...polygons, [ring]] } : others);
  }
}
