// What the pages can do with a script and do without it.

import { refresh } from "./news.js";
import { localize } from "./times.js";

// A position is chosen by sliding, too: by keys, mouse and touch.
for (const form of document.querySelectorAll(".vote")) {
  const choices = [...form.querySelectorAll("[name=position]")];
  const slider = document.createElement("input");
  slider.type = "range";
  slider.max = choices.length - 1;
  slider.value = slider.max / 2;
  const legend = form.querySelector("legend");
  slider.setAttribute("aria-label", legend.textContent);
  const say = () => slider.setAttribute("aria-valuetext", choices[slider.value].parentElement.textContent.trim());
  slider.addEventListener("input", () => { choices[slider.value].checked = true; say(); });
  choices.forEach((choice, i) => choice.addEventListener("change", () => { slider.value = i; say(); }));
  say();
  legend.after(slider);
}

// A link is sent by what the device sends things with.
for (const button of document.querySelectorAll("[data-share]")) {
  if (!navigator.share) continue;
  button.hidden = false;
  button.addEventListener("click", () => navigator.share({ url: button.dataset.share }).catch(() => {})); // the person has changed their mind
}

// While a page can be seen, notifications come to it by a stream. The link to all of them counts
// those that are new, and the page that lists them shows them. The stream of a page that a person
// has not touched for two minutes rests: it asks once a minute, until the person does.

const link = document.querySelector("[data-stream]");
const restAfter = 12e4;
let after = link.dataset.after, source, rests = false, timer;

const tell = (event) => {
  after = event.lastEventId;
  const notice = new DOMParser().parseFromString(event.data, "text/html").querySelector("li");
  if (!("unread" in notice.dataset) || document.getElementById(notice.id)) return;
  localize(notice);
  refresh();
  document.getElementById("told").textContent = notice.innerText;
  const list = document.getElementById("news");
  if (!list) return;
  list.prepend(document.importNode(notice, true));
  document.querySelector(".read").hidden = false;
  document.getElementById("none")?.remove();
};

// A session has one stream, so of several tabs the one that is seen has it.
const listen = () => {
  source?.close();
  source = undefined;
  if (document.hidden) return;
  source = new EventSource(`${link.dataset.stream}?after=${after}${rests ? "&rest" : ""}`);
  source.addEventListener("notification", tell);
};

const stir = () => {
  clearTimeout(timer);
  timer = setTimeout(() => { rests = true; listen(); }, restAfter);
  if (!rests) return;
  rests = false;
  listen();
};

for (const what of ["pointermove", "pointerdown", "keydown", "scroll"]) addEventListener(what, stir, { passive: true });
document.addEventListener("visibilitychange", () => { stir(); listen(); });
stir();
listen();
