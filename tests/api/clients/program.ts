// Uses the API through openapi-fetch, with the types that openapi-typescript made, and prints what
// it saw. The lines below "@ts-expect-error" are mistakes that the types must find.
import createClient from "openapi-fetch";
import type { components, paths } from "./api.ts";

declare const process: { env: Record<string, string> };
type Schemas = components["schemas"];

const baseUrl = process.env["ADDRESS"]!;
const headers = { Authorization: `Bearer ${process.env["KEY"]}` };
const client = createClient<paths, "application/json">({ baseUrl, headers });
const said: Record<string, unknown> = {};

// Positions of two numbers, and one of three.
const boundary: Schemas["Polygon"] = {
  type: "Polygon",
  coordinates: [[[8, 48], [9, 48], [9, 49, 250], [8, 48]]],
};
const body: Schemas["ProjectCreate"] = {
  name: "Cottage Grove",
  external_id: "USFS-061501",
  geometry: boundary,
  metadata: { region: 6, forest: { name: "Umpqua" } },
};
// @ts-expect-error A new project is active; its status is changed afterwards.
const withStatus: Schemas["ProjectCreate"] = { name: "Cottage Grove", status: "active" };
// @ts-expect-error There is no such status.
const wrongStatus: Schemas["ProjectUpdate"] = { status: "felled" };
// @ts-expect-error A point is no boundary.
const wrongBoundary: Schemas["ProjectUpdate"] = { geometry: { type: "Point", coordinates: [8, 48] } };
void [withStatus, wrongStatus, wrongBoundary];

function got<T>(data: T | undefined): T {
  if (data === undefined) throw new Error("the request was refused");
  return data;
}

const created = await client.POST("/v1/projects", {
  body,
  params: { header: { "Idempotency-Key": "first" } },
});
const project = got(created.data).data;
said["created"] = project.name;
for (const name of ["Diamond Lake", "Tiller"]) await client.POST("/v1/projects", { body: { name } });

const names: (string | undefined)[] = [];
for (let page = 1, pages = 1; page <= pages; page += 1) {
  const query = { page, per_page: 2, sort: "name", order: "asc", status: "active" } as const;
  const { data, meta } = got((await client.GET("/v1/projects", { params: { query } })).data);
  names.push(...data.map((each) => each.name));
  pages = meta.total_pages;
  if (page === 1) said["page_of_many"] = meta;
}
said["listed"] = names;
const either = await createClient<paths>({ baseUrl, headers }).GET("/v1/projects");
// @ts-expect-error It may be GeoJSON, which has no meta.
void either.data?.meta;
const all = got((await client.GET("/v1/projects")).data).data as Schemas["Project"][];
said["first_slug"] = all[0]!.slug;
const some = got((await client.GET("/v1/projects", { params: { query: { fields: "name" } } })).data);
said["some_fields"] = Object.keys(some.data[0]!);

const sixth = await client.GET("/v1/projects", { params: { query: { metadata: { "metadata.region": "6" } } } });
said["by_metadata"] = got(sixth.data).meta.total;

const path = { project_id: project.id };
const read = await client.GET("/v1/projects/{project_id}", { params: { path } });
const header = { "If-Match": read.response.headers.get("ETag")! };
const changed = await client.PATCH("/v1/projects/{project_id}", {
  params: { path, header },
  body: { status: "archived" },
});
const status: Schemas["ProjectStatus"] = got(changed.data).data.status;
said["changed"] = status;
const stale = await client.PUT("/v1/projects/{project_id}", {
  params: { path, header },
  body: { description: "too late" },
});
said["stale"] = [stale.response.status, stale.error?.error.code];

// What was read can be sent back as it is.
const whole: Schemas["Project"] = got(changed.data).data;
const sentBack = await client.PUT("/v1/projects/{project_id}", { params: { path }, body: whole });
said["sent_back"] = got(sentBack.data).data.updated_at === whole.updated_at;

const refused = await client.POST("/v1/projects", { body: { name: "" } });
const error: Schemas["Error"] = refused.error!;
said["refused"] = [refused.response.status, error.error.code, error.error.details[0]?.field];
const nowhere = { project_id: "proj_01arz3ndektsv4rrffq69g5fav" };
const absent = await client.GET("/v1/projects/{project_id}", { params: { path: nowhere } });
said["not_there"] = [absent.response.status, absent.error?.error.code];
const nobody = await createClient<paths, "application/json">({ baseUrl }).GET("/v1/auth/verify");
const invalid = nobody.error && "valid" in nobody.error ? nobody.error.valid : undefined;
said["without_key"] = [nobody.response.status, invalid];

const asset = await client.POST("/v1/projects/{project_id}/assets", {
  params: { path },
  body: {
    name: "Weather station 4",
    type: "monitoring_station",
    location: { type: "Point", coordinates: [8.5, 48.2] },
  },
});
said["asset"] = got(asset.data).data.name;

for (const format of ["gpkg", "csv", "kml", "geojson"] as const) {
  const params = { query: { format } };
  const file = await client.GET("/v1/exports/projects", { params, parseAs: "blob" });
  const whole: Blob = got(file.data);
  said[`exported_${format}`] = await whole.slice(0, 10).text();
}

const open = { type: "Polygon", coordinates: [[[8, 48], [9, 48], [9, 49], [8, 49]]] };
const problems: Schemas["GeometryProblemCode"][] = [];
for (const given of [open, { geometry: open }]) {
  const report = got((await client.POST("/v1/geometry/validate", { body: given })).data);
  problems.push(...report.data.problems.map((each) => each.code));
}
said["problems"] = problems;

const query = { type: "project.created" } as const;
const events = got((await client.GET("/v1/events", { params: { query } })).data).data;
const types: Schemas["Event"]["type"][] = events.map((each) => each.type);
said["events"] = types;
const kinds = got((await client.GET("/v1/event-types")).data).data;
if (kinds.length < 20) throw new Error("there are more types of events");

const url = "https://example.org/canopy";
const webhook = got((await client.POST("/v1/webhooks", { body: { url, events: ["*"] } })).data).data;
const reason: Schemas["DisabledReason"] | null = webhook.disabled_reason;
said["webhook"] = [webhook.events[0], reason];
// @ts-expect-error There is no such event.
void ({ url, events: ["project.felled"] } satisfies Schemas["WebhookCreate"]);
const gone = await client.DELETE("/v1/projects/{project_id}", { params: { path } });
said["deleted"] = gone.response.status;

console.log(JSON.stringify(said));
