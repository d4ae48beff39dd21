// What the pages can do with a script and do without it: show a password, say where one is.

import { refresh } from "./news.js";
import "./share.js";

for (const button of document.querySelectorAll("[data-show]")) {
  button.hidden = false;
  button.addEventListener("click", () => {
    const field = document.getElementById(button.getAttribute("aria-controls"));
    const seen = field.type === "text";
    field.type = seen ? "password" : "text";
    button.textContent = seen ? button.dataset.show : button.dataset.hide;
  });
}

for (const button of document.querySelectorAll("[data-here]")) {
  if (!navigator.geolocation) continue;
  button.hidden = false;
  button.addEventListener("click", () => {
    navigator.geolocation.getCurrentPosition(({ coords }) => {
      // no more than is kept leaves the browser
      document.getElementById("city").value = "";
      document.getElementById("lat").value = (Math.floor(coords.latitude * 10) / 10).toFixed(1);
      document.getElementById("lon").value = (Math.floor(coords.longitude * 10) / 10).toFixed(1);
    }, () => { button.textContent = button.dataset.fail; });
  });
}

// A picture of a chat is sent once it is chosen.
for (const label of document.querySelectorAll(".attach")) {
  const field = label.querySelector("input");
  label.dataset.ready = "";
  field.addEventListener("change", () => field.files.length && field.form.requestSubmit());
}

document.addEventListener("talkread", () => refresh());
