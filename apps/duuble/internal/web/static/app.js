// What the pages can do with a script and do without it.

import { refresh } from "./news.js";
import "./share.js";
import { localize } from "./times.js";

// In a list a vote is cast without leaving it: the part of the page that it changes comes back. What
// was refused is sent as without a script, whose answer says why.
document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!form.matches(".vote:has([name=back])")) return;
  event.preventDefault();
  if (form.dataset.sent) return;
  form.dataset.sent = "yes";
  const body = new URLSearchParams(new FormData(form));
  body.set("part", "yes");
  let answer;
  try {
    answer = await fetch(form.action, { method: "POST", body, redirect: "manual" });
    if (!answer.ok) return form.submit();
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector(".ballot");
    localize(fresh);
    const shown = document.importNode(fresh, true);
    form.closest(".ballot").replaceWith(shown);
    shown.focus({ preventScroll: true });
    document.getElementById("told").textContent = "Your vote is cast.";
  } catch {
    delete form.dataset.sent;
    document.getElementById("told").textContent = "The network has lost your vote. Vote again.";
  }
});

// The form for a post shows one part at a time, and which ones have a text. Those whose text was
// brought back are all shown.
const parts = [...document.querySelectorAll(".compose > details")];
const mark = (part) => {
  const full = [...part.querySelectorAll("textarea, input:not([type=checkbox])")].some(({ value }) => value);
  part.classList.toggle("full", full);
  return full;
};
const full = parts.filter(mark);
if (full.length > 1) for (const part of parts) part.removeAttribute("name");
for (const part of full) part.open = true;
for (const part of parts) part.addEventListener("input", () => mark(part));

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
