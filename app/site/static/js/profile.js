// The page of a person: offers the time zone of the browser where none is chosen.

const zones = document.querySelector("[name=time_zone]");
const offer = document.getElementById("zone-offer");
const found = Intl.DateTimeFormat().resolvedOptions().timeZone;

if (!zones.value && [...zones.options].some((option) => option.value === found)) {
  offer.querySelector("strong").textContent = found;
  offer.querySelector("button").addEventListener("click", () => {
    zones.value = found;
    offer.hidden = true;
    zones.focus();
  });
  offer.hidden = false;
}
