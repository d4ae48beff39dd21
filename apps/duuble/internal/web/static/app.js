// What the pages can do with a script: while a page can be seen, notifications come to it by a
// stream. The link to all of them counts those that are new, and the page that lists them shows them.

const link = document.querySelector("[data-stream]");
let after = link.dataset.after, count = 0, source;

const tell = (event) => {
  after = event.lastEventId;
  const notice = new DOMParser().parseFromString(event.data, "text/html").querySelector("li");
  if (!("unread" in notice.dataset) || document.getElementById(notice.id)) return;
  count++;
  link.querySelector("span").textContent = ` (${count})`;
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
  source = new EventSource(`${link.dataset.stream}?after=${after}`);
  source.addEventListener("notification", tell);
};

document.addEventListener("visibilitychange", listen);
listen();
