// The form of a key or token: what does not go together is not offered together.

const form = document.getElementById("credential-form");

function update() {
  const isLimited = form.elements.scope.value === "some";
  form.querySelector(".project-choice").hidden = !isLimited;
  document.getElementById("of-account").hidden = !isLimited;
  for (const box of form.querySelectorAll("[data-of-account]")) box.disabled = isLimited;
  const date = form.elements.expires_on;
  if (date) date.closest(".on").hidden = form.elements.life.value !== "date";
}

form.addEventListener("change", update);
form.elements.search.addEventListener("keydown", (event) => {
  if (event.key === "Enter") event.preventDefault(); // it would create what is not chosen yet
});
update();
