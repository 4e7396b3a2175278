// Forms that a passkey answers: before such a form is sent, the browser makes a passkey, or has one
// sign the challenge of the page. What it says goes into a hidden field, as JSON. Until this script
// has run, the button of the form is disabled.

const PROBLEMS = {
  NotAllowedError: "It was canceled, or took too long. Please try again.",
  AbortError: "It was canceled. Please try again.",
  InvalidStateError: "This device already has a passkey for you.",
  SecurityError: "Your browser does not allow passkeys at this address.",
  NotSupportedError: "Your device cannot create this kind of passkey.",
};
const OTHER = "Your browser could not use the passkey. Reload the page and try again.";
const NONE = window.isSecureContext
  ? "This browser does not support passkeys. Use another browser, or another second factor."
  : "Passkeys work only at addresses that begin with https.";

const bytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));
const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
const withBytes = (known) => ({ ...known, id: bytes(known.id) });

// The options of the page, with bytes where they have base64url.
function read(options) {
  const found = { ...options, challenge: bytes(options.challenge) };
  if (found.user) found.user = withBytes(found.user);
  for (const name of ["allowCredentials", "excludeCredentials"]) {
    if (found[name]) found[name] = found[name].map(withBytes);
  }
  return found;
}

// What the browser says, with base64url where it has bytes.
function written({ rawId, type, response }) {
  const found = { clientDataJSON: text(response.clientDataJSON) };
  for (const name of ["attestationObject", "authenticatorData", "signature", "userHandle"]) {
    if (response[name]) found[name] = text(response[name]);
  }
  if (response.getTransports) found.transports = response.getTransports();
  return JSON.stringify({ id: text(rawId), rawId: text(rawId), type, response: found });
}

for (const form of document.querySelectorAll("form[data-passkey]")) {
  const field = form.querySelector("[data-passkey-response]");
  const problem = form.querySelector("[data-passkey-problem]");
  const button = form.querySelector("button");
  const name = form.querySelector("[name=name]");
  const say = (words) => {
    problem.textContent = words;
    problem.hidden = !words;
  };
  if (window.PublicKeyCredential) button.disabled = false;
  else say(NONE);
  form.addEventListener("submit", async (event) => {
    if (field.value || (name && !name.value.trim())) return;  // the server says what is missing
    event.preventDefault();
    button.disabled = true;
    say("");
    try {
      const publicKey = read(JSON.parse(form.dataset.options));
      field.value = written(await navigator.credentials[form.dataset.passkey]({ publicKey }));
      form.submit();
    } catch (error) {
      say(PROBLEMS[error.name] ?? OTHER);
      button.disabled = false;
    }
  });
}
