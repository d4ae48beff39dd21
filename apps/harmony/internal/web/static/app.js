// What the pages can do with a script and do without it: show a password, say where one
// is, keep an open chat fresh.

import { refresh } from "./news.js";

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
      document.getElementById("lat").value = (Math.floor(coords.latitude * 10) / 10).toFixed(1);
      document.getElementById("lon").value = (Math.floor(coords.longitude * 10) / 10).toFixed(1);
    }, () => { button.textContent = button.dataset.fail; });
  });
}

// An open chat asks for changes every 3 seconds, after a minute of silence every 10, and not at all
// while it is hidden. What it shows it has read.
for (const log of document.querySelectorAll("[data-poll]")) {
  for (const plain of document.querySelectorAll("[data-plain]")) plain.hidden = true;
  let tag = "", changed = Date.now(), timer = 0, asking = false, marked = "";
  const read = async () => {
    const list = log.firstElementChild;
    const { newest, unread } = list.dataset;
    if (unread === "0" || newest === marked || document.hidden) return;
    marked = newest;
    await fetch(log.dataset.read, { method: "POST", body: new URLSearchParams({ upTo: newest }), redirect: "manual" });
    refresh();
  };
  const ask = async () => {
    clearTimeout(timer);
    if (document.hidden || asking) return;
    asking = true;
    try {
      const answer = await fetch(log.dataset.poll, { headers: tag ? { "If-None-Match": tag } : {}, cache: "no-store" });
      if (answer.status === 200 && answer.headers.has("ETag")) {
        const first = tag === "";
        tag = answer.headers.get("ETag");
        const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("ol.messages");
        if (fresh && fresh.outerHTML !== log.firstElementChild.outerHTML) {
          if (!first || fresh.dataset.newest !== log.firstElementChild.dataset.newest) changed = Date.now();
          log.replaceChildren(document.importNode(fresh, true));
          const newest = document.querySelector("#write [name=upTo]");
          if (newest) newest.value = fresh.dataset.newest;
        }
      }
      await read();
    } catch { /* the network comes back */ } finally {
      asking = false;
      timer = setTimeout(ask, Date.now() - changed < 60000 ? 3000 : 10000);
    }
  };
  document.addEventListener("visibilitychange", ask);
  ask();
}
