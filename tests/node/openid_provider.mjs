// An OpenID Connect provider, panva's oidc-provider. Whoever signs in types who they are, as JSON:
// {"sub": "…", "email": "…", "email_verified": true, "name": "…"}. Its arguments are whether an ID
// token has all claims, and the redirect URIs of its one client. It prints its issuer.

import { createServer } from "node:http";
import { Provider } from "oidc-provider";

const [idToken, ...redirectUris] = process.argv.slice(2);
const people = new Map();

const server = createServer();
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const issuer = `http://127.0.0.1:${server.address().port}`;

const provider = new Provider(issuer, {
  clients: [
    {
      client_id: "canopy:tests",
      client_secret: "a secret % with + signs",
      redirect_uris: redirectUris,
      token_endpoint_auth_method: "client_secret_basic",
    },
  ],
  claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
  conformIdTokenClaims: idToken !== "all",
  cookies: { keys: ["of the tests"] },
  features: { devInteractions: { enabled: false } },
  findAccount: (_, sub) => ({ accountId: sub, claims: () => people.get(sub) }),
  interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
  async loadExistingGrant(context) {
    const { client, session } = context.oidc;
    const grant = new context.oidc.provider.Grant({
      clientId: client.clientId,
      accountId: session.accountId,
    });
    grant.addOIDCScope("openid email profile");
    await grant.save();
    return grant;
  },
  pkce: { required: () => true },
  ttl: { AccessToken: 300, Grant: 300, IdToken: 300, Interaction: 300, Session: 300 },
});

async function read(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return new URLSearchParams(Buffer.concat(parts).toString());
}

const PAGE = `<!doctype html><html lang="en"><title>Green Woods</title><h1>Green Woods</h1>
<form method="post"><label>Who are you? <input name="person"></label>
<button name="do" value="in">Continue</button><button name="do" value="out">Cancel</button></form>`;

const handle = provider.callback();
server.on("request", async (request, response) => {
  if (!request.url.startsWith("/interaction/")) return handle(request, response);
  if (request.method === "GET") {
    response.setHeader("Content-Type", "text/html; charset=utf-8");
    return response.end(PAGE);
  }
  const form = await read(request);
  let result = { error: "access_denied" };
  if (form.get("do") !== "out") {
    const person = JSON.parse(form.get("person"));
    people.set(person.sub, person);
    result = { login: { accountId: person.sub } };
  }
  await provider.interactionFinished(request, response, result);
});

console.log(issuer);
