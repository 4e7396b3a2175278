// An application with a secret, by openid-client. It prints the address to open, and in the end what
// it got on the way, as JSON.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";

import * as client from "openid-client";

const { CANOPY, CLIENT_ID, CLIENT_SECRET } = process.env;
const config = await client.discovery(
  new URL(CANOPY),
  CLIENT_ID,
  undefined,
  client.ClientSecretBasic(CLIENT_SECRET),
  { algorithm: "oauth2", execute: [client.allowInsecureRequests] },
);
assert(config.serverMetadata().supportsPKCE());

const listening = createServer().listen(0, "127.0.0.1");
await once(listening, "listening");
const back = new URL(`http://127.0.0.1:${listening.address().port}/back`);
const verifier = client.randomPKCECodeVerifier();
const state = client.randomState();
console.log(
  client.buildAuthorizationUrl(config, {
    redirect_uri: back.href,
    scope: "profile projects:read offline_access",
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    state,
  }).href,
);
const [request, response] = await once(listening, "request");
response.end("Back.");
listening.close();
listening.closeAllConnections();

const came = new URL(request.url, back);
const checks = { pkceCodeVerifier: verifier, expectedState: state };
const refused = async (change) => {
  const address = new URL(came);
  change(address.searchParams);
  return client.authorizationCodeGrant(config, address, checks).then(
    () => null,
    (error) => error.cause?.message ?? error.message,
  );
};
const call = async (tokens, path) => {
  const address = new URL(path, CANOPY);
  const answer = await fetch(address, { headers: { Authorization: `Bearer ${tokens.access_token}` } });
  return { status: answer.status, body: await answer.json() };
};
const introspect = async (token) => (await client.tokenIntrospection(config, token)).active;

const seen = {
  ofAnother: await refused((query) => query.set("iss", "https://elsewhere.example")),
  ofNobody: await refused((query) => query.delete("iss")),
  withAnotherState: await refused((query) => query.set("state", "another")),
};
const first = await client.authorizationCodeGrant(config, came, checks);
seen.first = first;
seen.account = await call(first, "/v1/account");
seen.projects = await call(first, "/v1/projects");
for (const path of ["/v1/assets", "/ogc/collections/assets/items"]) {
  const address = new URL(path, CANOPY);
  const asked = client.fetchProtectedResource(config, first.access_token, address, "GET");
  seen[path] = await asked.catch((error) => error.cause[0]);
}
const second = await client.refreshTokenGrant(config, first.refresh_token);
seen.differ = [first.access_token !== second.access_token, first.refresh_token !== second.refresh_token];
seen.refreshed = await call(second, "/v1/projects");
seen.introspected = await client.tokenIntrospection(config, second.access_token);
await client.tokenRevocation(config, second.access_token);
seen.revoked = [await introspect(second.access_token), (await call(second, "/v1/projects")).status];
seen.others = [await introspect(first.access_token), await introspect(second.refresh_token)];
await client.tokenRevocation(config, second.refresh_token);
seen.ended = [await introspect(first.access_token), await introspect(second.refresh_token)];
seen.endedStatus = (await call(first, "/v1/projects")).status;
seen.afterwards = await client.refreshTokenGrant(config, second.refresh_token).then(
  () => null,
  (error) => error.error,
);
console.log(JSON.stringify(seen));
