// Short messages in the corner, which screen readers say.

const SECONDS = 8;

/** Show a message. One that tells of a problem stays until it is closed. */
export function toast(message, isProblem = false) {
  const box = document.createElement("div");
  box.className = isProblem ? "toast problem" : "toast";
  const text = document.createElement("p");
  text.textContent = message;
  const close = document.createElement("button");
  close.type = "button";
  close.setAttribute("aria-label", "Close message");
  close.textContent = "×";
  close.addEventListener("click", () => box.remove());
  box.append(text, close);
  document.getElementById("toasts").append(box);
  if (!isProblem) setTimeout(() => box.remove(), SECONDS * 1000);
}
