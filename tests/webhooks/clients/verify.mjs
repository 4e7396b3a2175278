// Has the libraries of others verify deliveries: an array of {secret, headers, body} on standard
// input. Prints for each what standardwebhooks and @octokit/webhooks-methods say of it.
import { readFileSync } from "node:fs";

import { verify } from "@octokit/webhooks-methods";
import { Webhook } from "standardwebhooks";

const tried = (secret, body, headers) => {
  try {
    return new Webhook(secret).verify(body, headers).id;
  } catch (error) {
    return error.message;
  }
};

const said = [];
for (const { secret, key, headers, body } of JSON.parse(readFileSync(0, "utf8"))) {
  said.push({
    standardwebhooks: tried(key, body, headers),
    octokit: await verify(secret, body, headers["x-service-signature"]),
  });
}
console.log(JSON.stringify(said));
