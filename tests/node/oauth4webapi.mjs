// An application without a secret, step by step by oauth4webapi. It prints the address to open, and in
// the end what it got on the way, as JSON.
import { once } from "node:events";
import { createServer } from "node:http";

import * as oauth from "oauth4webapi";

const { CANOPY, CLIENT_ID } = process.env;
const options = { [oauth.allowInsecureRequests]: true };
const issuer = new URL(CANOPY);
const found = await oauth.discoveryRequest(issuer, { algorithm: "oauth2", ...options });
const server = await oauth.processDiscoveryResponse(issuer, found);
const client = { client_id: CLIENT_ID };
const proof = oauth.None();

const listening = createServer().listen(0, "127.0.0.1");
await once(listening, "listening");
const back = `http://127.0.0.1:${listening.address().port}/back`;
const verifier = oauth.generateRandomCodeVerifier();
const state = oauth.generateRandomState();
const address = new URL(server.authorization_endpoint);
address.search = new URLSearchParams({
  response_type: "code",
  client_id: CLIENT_ID,
  redirect_uri: back,
  scope: "projects:read offline_access",
  code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
  code_challenge_method: "S256",
  state,
});
console.log(address.href);
const [request, response] = await once(listening, "request");
response.end("Back.");
listening.close();
listening.closeAllConnections();

const came = new URL(request.url, back);
const refusedFor = (change) => {
  const query = new URLSearchParams(came.searchParams);
  change(query);
  try {
    oauth.validateAuthResponse(server, client, query, state);
  } catch (error) {
    return error.message;
  }
  return null;
};
const exchange = (parameters, by) =>
  oauth.authorizationCodeGrantRequest(server, client, proof, parameters, back, by, options);
const status = async (tokens) => {
  const resource = new URL("/v1/projects", CANOPY);
  const answer = await fetch(resource, { headers: { Authorization: `Bearer ${tokens.access_token}` } });
  return answer.status;
};
const refusal = async (answer) => [answer.status, (await answer.json()).error];

const seen = {
  ofAnother: refusedFor((query) => query.set("iss", "https://elsewhere.example")),
  ofNobody: refusedFor((query) => query.delete("iss")),
  withAnotherState: refusedFor((query) => query.set("state", "another")),
  withoutState: refusedFor((query) => query.delete("state")),
};
const parameters = oauth.validateAuthResponse(server, client, came.searchParams, state);
seen.wrongVerifier = await refusal(await exchange(parameters, oauth.generateRandomCodeVerifier()));
const answer = await exchange(parameters, verifier);
const first = await oauth.processAuthorizationCodeResponse(server, client, answer);
seen.first = first;
seen.status = await status(first);

const refresh = (token) => oauth.refreshTokenGrantRequest(server, client, proof, token, options);
const refreshed = async (token) =>
  oauth.processRefreshTokenResponse(server, client, await refresh(token));
const second = await refreshed(first.refresh_token);
const repeat = await refreshed(first.refresh_token); // an answer was lost, say
seen.repeated = JSON.stringify(repeat) === JSON.stringify(second);
seen.refreshedStatus = await status(second);
const revoke = await oauth.revocationRequest(server, client, proof, second.refresh_token, options);
seen.revoked = (await oauth.processRevocationResponse(revoke)) ?? null;
seen.statusAfter = [await status(first), await status(second)];
seen.refreshAfter = await refusal(await refresh(second.refresh_token));
console.log(JSON.stringify(seen));
