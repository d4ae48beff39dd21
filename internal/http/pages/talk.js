// Chats and discussions, and what is written on pages. A log, [data-talk], has a list of messages
// from the oldest to the newest, li[data-id], those of the reader with class "mine", and what the
// service says with "system". It opens at the first that is new or at its end, and follows those
// that come. A form, [data-writes], sends by Enter if its reader wants that, and keeps its text when
// it was not sent.

const end = () => document.documentElement.scrollHeight;
const toEnd = () => scrollTo(0, end());
const isAtEnd = () => end() - innerHeight - scrollY < 60;
const words = (button, n) => {
  const form = new Intl.PluralRules(document.documentElement.lang).select(n);
  return (button.getAttribute(`data-n-${form}`) ?? button.getAttribute("data-n-many")).replace("%d", n);
};

// plainOf writes a message as the server did, without what the reader and scripts have done to it.
const plainOf = (message) => {
  const copy = message.cloneNode(true);
  copy.removeAttribute("id");
  for (const time of copy.querySelectorAll("time")) {
    time.textContent = "";
    time.removeAttribute("title");
  }
  for (const menu of copy.querySelectorAll("details")) menu.open = false;
  return copy.outerHTML;
};

// merge makes a list what the server has. A message that is the same stays, with an open menu.
const merge = (list, fresh) => {
  for (const name of list.getAttributeNames()) if (!fresh.hasAttribute(name)) list.removeAttribute(name);
  for (const { name, value } of fresh.attributes) list.setAttribute(name, value);
  const old = new Map([...list.children].map((message) => [message.dataset.id, message]));
  let next = list.firstElementChild;
  for (const message of [...fresh.children]) {
    const was = old.get(message.dataset.id);
    old.delete(message.dataset.id);
    message.removeAttribute("id");
    if (was?.id) message.id = was.id;
    const same = was && plainOf(was) === plainOf(message);
    const shown = same ? was : document.importNode(message, true);
    if (was && !same) {
      if (next === was) next = was.nextElementSibling;
      was.remove();
    }
    if (shown === next) next = next.nextElementSibling;
    else list.insertBefore(shown, next);
  }
  for (const gone of old.values()) gone.remove();
};

// follow opens a log and asks for changes every 3 seconds, after a minute of silence every 10, after
// ten minutes every 60, and not at all while the page is hidden. What was on the screen is read:
// data-read names the address that notes it; without one the device does.
const follow = (log) => {
  const list = log.querySelector(".messages");
  const more = document.querySelector("[data-fresh]");
  const writing = document.querySelector(".writing");
  const kept = `seen:${log.dataset.talk}`;
  const all = () => [...list.querySelectorAll("[data-id]")];
  if (!log.dataset.read) {
    const before = localStorage.getItem(kept);
    const first = before && all().find(({ dataset, classList }) => dataset.id > before && !classList.contains("mine"));
    if (first) first.id = "new";
  }
  const first = document.getElementById("new");
  if (first && location.hash !== "#sent") first.scrollIntoView();
  else toEnd();

  let seen = "", marked = "";
  const mark = async () => {
    if (seen === "" || seen === marked) return;
    marked = seen;
    if (!log.dataset.read) localStorage.setItem(kept, seen);
    else if (list.dataset.unread !== "0") {
      await fetch(log.dataset.read, { method: "POST", body: new URLSearchParams({ upTo: seen }), redirect: "manual" });
      document.dispatchEvent(new Event("talkread"));
    }
  };
  const look = () => {
    if (document.hidden) return;
    const messages = all();
    const edge = Math.min(innerHeight, writing?.getBoundingClientRect().top ?? innerHeight);
    let last = messages.findIndex((message) => message.dataset.id === seen);
    while (last + 1 < messages.length && messages[last + 1].getBoundingClientRect().top + 20 < edge) last++;
    if (last >= 0) seen = messages[last].dataset.id;
    const n = messages.slice(last + 1).filter(({ classList }) => !classList.contains("mine") && !classList.contains("system")).length;
    more.hidden = n === 0;
    if (n) more.textContent = words(more, n);
    mark().catch(() => { marked = ""; }); // the network comes back
  };
  more.addEventListener("click", toEnd);
  addEventListener("scroll", look, { passive: true });
  addEventListener("resize", look, { passive: true });

  let { tag } = log.dataset;
  let changed = Date.now(), timer = 0, asking = false;
  const pause = () => {
    const silent = Date.now() - changed;
    if (silent < 6e4) return 3e3;
    return silent < 6e5 ? 1e4 : 6e4;
  };
  const ask = async () => {
    clearTimeout(timer);
    if (document.hidden || asking) return;
    asking = true;
    try {
      const answer = await fetch(log.dataset.poll, { headers: { "If-None-Match": tag }, cache: "no-store" });
      if (answer.status === 200 && answer.headers.has("ETag")) {
        tag = answer.headers.get("ETag");
        const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector(".messages");
        if (fresh) {
          changed = Date.now();
          const follows = isAtEnd();
          merge(list, fresh);
          if (follows) toEnd();
          const newest = writing?.querySelector("[name=upTo]");
          if (newest) newest.value = fresh.dataset.newest;
        }
      }
      look();
    } catch { /* the network comes back */ } finally {
      asking = false;
      timer = setTimeout(ask, pause());
    }
  };
  document.addEventListener("visibilitychange", ask);
  look();
  timer = setTimeout(ask, pause());
};

// Which form was sent last is known until the next page: one for members without an error says that
// its text has arrived, and the page to sign in that it has not.
const sending = sessionStorage.getItem("sending");
sessionStorage.removeItem("sending");
if (sending && document.querySelector("[data-news]") && !document.querySelector("main .wrong")) sessionStorage.removeItem(sending);

// write has a form keep its text on the device until it was sent.
const write = (form) => {
  const draft = `draft:${form.dataset.writes}`;
  const fields = [...form.querySelectorAll("textarea, input[type=text]")];
  const kept = JSON.parse(sessionStorage.getItem(draft) ?? "{}");
  for (const field of fields) if (field.value === "" && kept[field.name]) field.value = kept[field.name];
  form.addEventListener("input", () => {
    sessionStorage.setItem(draft, JSON.stringify(Object.fromEntries(fields.map(({ name, value }) => [name, value]))));
  });
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
    sessionStorage.setItem("sending", draft);
  });
  addEventListener("pageshow", ({ persisted }) => persisted && delete form.dataset.sent);
};

// line makes a field of one line that grows. Enter sends from it, and Shift+Enter breaks, if the
// device has a keyboard and its reader has not chosen otherwise; Ctrl+Enter always sends.
const line = (form, choice) => {
  const field = form.querySelector("textarea");
  const touches = matchMedia("(pointer: coarse)").matches;
  choice.closest("label").hidden = touches;
  choice.checked = localStorage.getItem("enter") !== "breaks";
  choice.addEventListener("change", () => localStorage.setItem("enter", choice.checked ? "sends" : "breaks"));
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing) return;
    if (!event.ctrlKey && !event.metaKey && (touches || event.shiftKey || !choice.checked)) return;
    event.preventDefault();
    if (field.value.trim()) form.requestSubmit();
  });
  if (CSS.supports("field-sizing", "content")) return;
  const grow = () => {
    field.style.height = "auto";
    field.style.height = `${field.scrollHeight + 2}px`;
  };
  field.addEventListener("input", grow);
  grow();
};

for (const form of document.querySelectorAll("[data-writes]")) write(form);
for (const choice of document.querySelectorAll("[data-enter]")) line(choice.form, choice);
for (const plain of document.querySelectorAll("[data-plain]")) plain.hidden = true;
for (const log of document.querySelectorAll("[data-talk]")) follow(log);

// One menu is open at a time, and closes by Escape and by a press elsewhere.
const menus = ":is(.menu, .bar > details)";
const close = (but) => {
  for (const menu of document.querySelectorAll(`${menus}[open]`)) if (menu !== but) menu.open = false;
};
document.addEventListener("click", ({ target }) => close(target.closest(menus)));
document.addEventListener("keydown", ({ key }) => {
  if (key !== "Escape") return;
  document.querySelector(`${menus}[open] summary`)?.focus();
  close();
});
