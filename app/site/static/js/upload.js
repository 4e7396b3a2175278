// The form that uploads a file: dropping it, its size, progress, and what the server says of it.

import { bytes } from "./formats.js";
import { toast } from "./toasts.js";

const form = document.getElementById("upload");
const input = document.getElementById("file");
const zone = document.getElementById("drop-zone");
let request = null;

const part = (id) => document.getElementById(id);

function showProblem(message) {
  const box = part("file-error");
  box.lastElementChild.textContent = message;
  box.hidden = !message;
  if (message) input.setAttribute("aria-invalid", "true");
  else input.removeAttribute("aria-invalid");
}

/** Whether the chosen file may be sent; says why not. */
function checkFile() {
  const [file] = input.files;
  const chosen = part("file-chosen");
  chosen.hidden = !file;
  chosen.textContent = file ? `${file.name} (${bytes(file.size)})` : "";
  let problem = "";
  if (file && file.size > Number(form.dataset.most)) {
    problem = `The file has ${bytes(file.size)}, and can have ${form.dataset.size}. Split it into several, or simplify it.`;
  } else if (file && file.size === 0) problem = "The file is empty.";
  showProblem(problem);
  return Boolean(file) && !problem;
}

function showSending(isSending) {
  part("sending").hidden = !isSending;
  part("send").disabled = isSending;
  part("leave").hidden = isSending;
  if (isSending) part("stop").focus();
}

function showProgress({ loaded, total }) {
  part("sending-bar").value = (100 * loaded) / total;
  part("sending-words").textContent =
    loaded < total ? `Uploading: ${bytes(loaded)} of ${bytes(total)}` : "Uploaded. The server stores the file…";
}

function send() {
  request = new XMLHttpRequest();
  request.open("POST", form.action);
  request.setRequestHeader("Accept", "application/json");
  request.setRequestHeader("X-Requested-With", "fetch");
  request.setRequestHeader("X-CSRFToken", form.elements.csrf_token.value);
  request.upload.addEventListener("progress", showProgress);
  request.addEventListener("load", () => finish(request));
  request.addEventListener("error", () => fail("The connection ended before the file was uploaded. Check it, and try again."));
  request.addEventListener("abort", () => fail(""));
  showSending(true);
  request.send(new FormData(form));
}

function finish({ status, responseText }) {
  const location = request.getResponseHeader("Location");
  if (status === 201 && location) {
    window.location.assign(location);
    return;
  }
  let message = "The server could not take the file. Try again in a minute.";
  try {
    const { error } = JSON.parse(responseText);
    message = error.details.map((detail) => detail.message).join(" ") || error.message;
  } catch {
    if (status === 413) message = `The file is larger than ${form.dataset.size}.`;
  }
  fail(message);
}

function fail(message) {
  showSending(false);
  showProblem(message);
  if (message) input.focus();
  else toast("Upload canceled.");
}

function showKind() {
  const isAssets = form.elements.kind.value === "assets";
  part("project-field").hidden = !isAssets;
  form.elements.project_id.required = isAssets;
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (checkFile()) send();
});
form.addEventListener("change", ({ target }) => {
  if (target === input) checkFile();
  if (target.name === "kind") showKind();
});
for (const name of ["htmx:error", "htmx:response:error"]) {
  document.addEventListener(name, () => toast("The projects could not be searched. Try again.", true));
}
form.elements.search.addEventListener("keydown", (event) => {
  if (event.key === "Enter") event.preventDefault();
});
part("stop").addEventListener("click", () => request?.abort());
for (const name of ["dragenter", "dragover"]) {
  zone.addEventListener(name, (event) => {
    event.preventDefault();
    zone.classList.add("over");
  });
}
for (const name of ["dragleave", "drop"]) zone.addEventListener(name, () => zone.classList.remove("over"));
zone.addEventListener("drop", (event) => {
  event.preventDefault();
  if (event.dataTransfer.files.length > 1) toast("Drop one file at a time. Put the parts of a shapefile into a zip file.", true);
  else if (event.dataTransfer.files.length === 1) {
    input.files = event.dataTransfer.files;
    checkFile();
  }
});
showKind();
if (input.files.length) checkFile();
