// The pages work without this. With it, lists change without loading a page anew, votes show at
// once, texts can be copied, and forms count while one writes.

export const $ = (id) => document.getElementById(id);

// say tells those who hear a page what has changed on it.
export function say(text) {
  $("live").textContent = "";
  setTimeout(() => { $("live").textContent = text; }, 50);
}

// keyOf names what is kept of a form that is sent to an address, for whoever is signed in.
const keyOf = (what, address) => `${what} ${document.querySelector(".name")?.textContent} ${address}`;
export const draftOf = (address) => keyOf("draft", address);

export const unreachable = () => (navigator.onLine ? "The server cannot be reached." : "You are offline.");

// Being offline

function showOffline() { $("offline").hidden = navigator.onLine; }
addEventListener("online", showOffline);
addEventListener("offline", showOffline);
showOffline();

// A form that the browser would send now leads to a page of its own, so it waits. Those that a script
// sends say so themselves.
addEventListener("submit", (e) => {
  if (navigator.onLine || e.target.method !== "post" || e.target.matches(".ballot, #favorite, #fill, [data-parts-of]")) return;
  e.preventDefault();
  e.stopPropagation();
  toast("You are offline. Nothing was sent: send it again when you are back.");
}, true);

// What opens over a page closes where one goes on.
for (const menu of document.querySelectorAll(".menu, #share, #propose")) {
  for (const type of ["click", "focusin"]) addEventListener(type, (e) => { if (!menu.contains(e.target) && !e.target.closest("dialog")) menu.open = false; });
  menu.addEventListener("keydown", (e) => {
    if (e.key !== "Escape") return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
}

// What a form did is told once, and not again to those who are sent the address.
if (new URL(location).searchParams.has("done")) {
  const url = new URL(location);
  const saved = { created: "/app/prompts/new", saved: `${url.pathname}/edit`, merged: `${url.pathname}/edit` }[url.searchParams.get("done")];
  if (saved) localStorage.removeItem(draftOf(saved));
  url.searchParams.delete("done");
  url.searchParams.delete("of");
  history.replaceState(history.state, "", url);
}
$("wrong")?.focus();

// It stands above the page and moves nothing, for as long as it takes to read it and undo it.
const told = document.querySelector("main > .done");
if (told) {
  told.classList.add("shown");
  const hide = () => { if (told.matches(":hover, :focus-within")) setTimeout(hide, 2000); else told.remove(); };
  setTimeout(hide, 10000);
}

// What one goes back to is as old as it was. Its entry in the history has the time of that.
if (performance.getEntriesByType("navigation")[0]?.type !== "back_forward") history.replaceState({ ...history.state, at: Date.now() }, "");

// Lists

// fetchPart asks for a page and returns the element of it that has an id.
async function fetchPart(address, id, signal) {
  const url = new URL(address, location);
  if (id === "results") url.searchParams.set("part", id);
  let answer;
  try {
    answer = await fetch(url, { signal });
  } catch (cause) {
    throw cause.name === "AbortError" ? cause : new Error(unreachable());
  }
  const part = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById(id);
  if (!part) throw new Error(answer.status === 401 ? "You are signed out. Load the page again to sign in." : "This cannot be loaded now.");
  return document.adoptNode(part);
}

let loading = new AbortController();

// load runs a step that takes answers from the server: the newest one counts, and one that failed can be tried again.
async function load(step) {
  loading.abort();
  const mine = loading = new AbortController();
  const results = $("results");
  results.setAttribute("aria-busy", "true");
  try {
    await step(mine.signal);
    recall();
    markNew();
    $("failed").hidden = true;
  } catch (cause) {
    if (mine.signal.aborted) return;
    $("failed").hidden = false;
    $("failed").querySelector("span").textContent = cause.message;
    $("failed").querySelector("button").onclick = () => load(step);
  } finally {
    if (loading === mine) $("results").removeAttribute("aria-busy");
  }
}

// show shows the list at an address. How says what becomes of the address of the page.
function show(address, how, focus) {
  return load(async (signal) => {
    const results = await fetchPart(address, "results", signal);
    $("results").replaceWith(results);
    if (how) history[how]({ at: Date.now() }, "", address);
    follow();
    say(results.dataset.say);
    if (focus) refocus(results, focus);
  });
}

// follow has what stands outside the list lead where the address of the page says.
function follow() {
  const here = new URL(location);
  const lead = (link, key, value) => {
    const url = new URL(link.href);
    if (value) url.searchParams.set(key, value);
    else url.searchParams.delete(key);
    link.href = url.pathname + url.search;
  };
  const signIn = document.querySelector("[data-back]");
  if (signIn) lead(signIn, signIn.dataset.back, here.pathname + here.search);
  if (here.pathname !== "/app") return; // feeds of authors take no tags
  for (const feed of document.querySelectorAll("link[rel=alternate]")) lead(feed, "tag", here.searchParams.get("tag"));
}

// What is newer than the last visit is marked. A visit ends half an hour after its last page.
let since = 0;
if ($("place") || $("results")) {
  const key = keyOf("visit", "");
  const kept = JSON.parse(localStorage.getItem(key)) ?? { at: 0, before: 0 };
  since = Date.now() - kept.at > 18e5 ? kept.at : kept.before;
  try { localStorage.setItem(key, JSON.stringify({ at: Date.now(), before: since })); } catch { /* then nothing is new */ }
}
function markNew() {
  if (!since || location.pathname !== "/app") return;
  const fresh = [...document.querySelectorAll(".cards > li")].filter((li) => Date.parse(li.querySelector("time").dateTime) > since);
  for (const li of fresh.filter((li) => !li.matches(".new"))) {
    li.classList.add("new");
    li.querySelector(".meta").append(Object.assign(document.createElement("span"), { className: "unseen", textContent: "New since your last visit" }));
  }
  $("place")?.querySelector("b")?.remove();
  if (fresh.length) $("place")?.prepend(Object.assign(document.createElement("b"), { textContent: `${fresh.length} new · ` }));
}
markNew();

// refocus puts the focus where it was in the list before: on the link of the same name, else on the current order.
function refocus(results, name) {
  const links = [...results.querySelectorAll("a[data-live]")];
  (links.find((a) => a.textContent.trim() === name) ?? links.find((a) => a.ariaCurrent) ?? links[0])?.focus();
}

// more appends the next page of the list. The address stays, and the history keeps how many pages there are.
function more(link) {
  return load(async (signal) => {
    const next = await append(link, signal);
    history.replaceState({ ...history.state, pages: (history.state?.pages ?? 1) + 1 }, "");
    say(next.dataset.say);
    (next.items[0]?.querySelector("h2 a") ?? document.querySelector("#results .next a"))?.focus({ preventScroll: true });
  });
}

// append shows the page of the list that a link leads to below those that are shown.
async function append(link, signal) {
  const next = await fetchPart(link.href, "results", signal);
  next.items = [...next.querySelectorAll(".cards > li")].filter((li) => !$(li.id));
  let list = document.querySelector("#results .cards");
  if (!list) {
    list = document.createElement("ul");
    list.className = "cards";
    link.parentElement.before(list);
  }
  list.append(...next.items);
  const place = next.querySelector("#place"), mine = $("place");
  if (place && mine) mine.textContent = place.textContent.replace(/^\d+/, mine.dataset.from);
  const rest = next.querySelector(".next");
  if (rest) link.parentElement.replaceWith(rest);
  else link.parentElement.remove();
  return next;
}

// again shows as many pages of the list as were shown when somebody left it or loaded it anew, and
// the place in them, to which the browser finds no way before they are there.
function again({ pages, y }) {
  let left = Math.min(pages, 20);
  return load(async (signal) => {
    for (let link; --left > 0 && (link = document.querySelector("#results .next a"));) await append(link, signal);
    if (y) scrollTo(0, y);
  });
}
if ($("results") && history.state?.pages > 1) again(history.state);

function keepPlace() {
  if (history.state?.pages > 1) history.replaceState({ ...history.state, y: scrollY }, "");
}
let resting;
addEventListener("scroll", () => {
  clearTimeout(resting);
  resting = setTimeout(keepPlace, 200); // browsers allow few changes of the history
}, { passive: true });
document.addEventListener("click", keepPlace, true);

// panel shows all tags beside the list, and hides them again.
function panel(link) {
  if ($("panel").hasChildNodes()) {
    $("panel").replaceChildren();
    return link.setAttribute("aria-expanded", "false");
  }
  return load(async (signal) => {
    $("panel").replaceChildren(await fetchPart(link.href, "tags", signal));
    link.setAttribute("aria-expanded", "true");
    $("panel").querySelector("a")?.focus();
  });
}

export const plainClick = (e) => e.button === 0 && !e.metaKey && !e.ctrlKey && !e.shiftKey && !e.altKey;

let searchTimer; // of letters that were typed a moment ago

document.addEventListener("click", (e) => {
  const link = e.target.closest("a");
  if (!link || !plainClick(e) || !$("results")) return;
  const { live, more: isMore, panel: isPanel, tag } = link.dataset;
  const here = new URL(link.href).pathname === location.pathname;
  if (live !== undefined && here && link.closest(".offers")) { // the words that it has instead stand in the box
    clearTimeout(searchTimer); // of letters that the link takes away
    $("q").value = new URL(link.href).searchParams.get("q") ?? "";
    show(link.href, "pushState").then(() => $("q").focus()); // not before the key is up, which would send the form
  } else if (live !== undefined && here) show(link.href, "pushState", link.textContent.trim());
  else if (tag !== undefined && here) { show(link.href, "pushState", link.textContent.trim()); scrollTo(0, 0); }
  else if (isMore !== undefined) more(link);
  else if (isPanel !== undefined) panel(link);
  else return;
  e.preventDefault();
});

if ($("search")) {
  const q = $("q");
  // address is that of the list that the form asks for.
  const address = () => {
    const url = new URL(location);
    url.searchParams.delete("cursor");
    if (q.value.trim()) url.searchParams.set("q", q.value.trim());
    else url.searchParams.delete("q");
    return url.href;
  };
  let typed = false;
  q.addEventListener("input", () => {
    clearTimeout(searchTimer);
    searchTimer = setTimeout(() => {
      // One entry in the history for one search, however many letters it has.
      show(address(), typed ? "replaceState" : "pushState");
      typed = true;
    }, 180);
  });
  q.addEventListener("blur", () => { typed = false; });
  $("search").addEventListener("submit", (e) => {
    e.preventDefault();
    clearTimeout(searchTimer);
    show(address(), address() === location.href ? null : "pushState");
  });
}

// The arrows lead from the search box through what it offers and the prompts that it found, and Escape leads back.
document.addEventListener("keydown", (e) => {
  const at = document.activeElement, within = at.closest(".offers, .card h2");
  if (!$("search") || e.ctrlKey || e.metaKey || e.altKey || e.isComposing || at !== $("q") && !within) return;
  const stops = [$("q"), ...$("results").querySelectorAll(".offers a, .card h2 a")];
  const to = { ArrowDown: stops.indexOf(at) + 1, ArrowUp: stops.indexOf(at) - 1, Escape: within ? 0 : -1 }[e.key];
  if (!stops[to]) return;
  e.preventDefault();
  stops[to].focus();
});

addEventListener("popstate", () => {
  if (!$("results")) return;
  if ($("q")) $("q").value = new URL(location).searchParams.get("q") ?? "";
  const { state } = history;
  show(location.href, null).then(() => state?.pages > 1 && again(state));
});

// Votes

// paint shows a vote and the tally with it.
function paint(form, { value, likes, dislikes }) {
  Object.assign(form.dataset, { value, likes, dislikes });
  form.querySelector("b").textContent = String(likes - dislikes).replace("-", "−");
  form.querySelector("b").classList.toggle("none", !(likes + dislikes));
  form.querySelector(".score").title = `${likes} likes, ${dislikes} dislikes`;
  for (const button of form.querySelectorAll("button")) {
    const pressed = button.dataset.vote === value;
    button.setAttribute("aria-pressed", pressed);
    button.value = pressed ? "none" : button.dataset.vote;
  }
}

const painted = ({ dataset: d }) => ({ value: d.value, likes: +d.likes, dislikes: +d.dislikes });

// after returns what a tally becomes when one vote in it changes.
const after = (t, value) => ({
  value,
  likes: t.likes - (t.value === "like") + (value === "like"),
  dislikes: t.dislikes - (t.value === "dislike") + (value === "dislike"),
});

async function send(form, value) {
  let answer;
  try {
    answer = await fetch(form.action, { method: "POST", body: new URLSearchParams({ value }), headers: { Accept: "application/json" }, keepalive: true });
  } catch {
    throw new Error(unreachable());
  }
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(answer.status === 401 ? "You are signed out. Load the page again to sign in." : (body.detail ?? "The server did not take the vote."));
  return body;
}

// cast shows a vote and keeps it for the lists that one goes back to.
function cast(form, tally) {
  paint(form, tally);
  try {
    sessionStorage.setItem(keyOf("vote", form.action), JSON.stringify({ ...tally, at: Date.now() }));
  } catch { /* then those show it when they are loaded anew */ }
}

// recall shows the votes that were cast since the page was loaded first.
function recall() {
  for (const form of document.querySelectorAll("form.ballot")) {
    const tally = JSON.parse(sessionStorage.getItem(keyOf("vote", form.action)));
    if (tally?.at > history.state?.at) paint(form, tally);
  }
}
recall();
addEventListener("pageshow", (e) => { if (e.persisted) recall(); });

const votes = new WeakMap(); // by form: what the server is known to have, and the votes on their way

// vote shows a vote at once and sends it behind the ones before it. Where the server did not take it, what the
// server has is shown again.
function vote(form, value) {
  const state = votes.get(form) ?? { sure: painted(form), last: Promise.resolve(), open: 0 };
  votes.set(form, state);
  cast(form, after(painted(form), value));
  state.open++;
  state.last = state.last.then(async () => {
    try {
      state.sure = await send(form, value);
      say(value === "none" ? "Vote taken back" : value === "like" ? "Liked" : "Disliked");
    } catch (cause) {
      toast(`Your vote was not counted. ${cause.message}`);
    }
    if (--state.open === 0) cast(form, state.sure);
  });
}

document.addEventListener("submit", (e) => {
  const form = e.target.closest("form.ballot");
  if (!form || !e.submitter) return;
  e.preventDefault();
  vote(form, e.submitter.value);
});

// toast shows what went wrong for a while, without moving anything.
export function toast(text) {
  document.querySelector(".toast")?.remove();
  const p = Object.assign(document.createElement("p"), { className: "toast", textContent: text });
  p.setAttribute("role", "alert");
  document.body.append(p);
  setTimeout(() => p.remove(), 8000);
}

// A prompt

$("favorite")?.addEventListener("submit", async (e) => {
  e.preventDefault();
  const button = e.submitter ?? e.target.querySelector("button");
  const is = button.value === "yes";
  try {
    const answer = await fetch(e.target.action, { method: "POST", body: new URLSearchParams({ favorite: button.value }), headers: { Accept: "application/json" } })
      .catch(() => { throw new Error(unreachable()); });
    if (!answer.ok) throw new Error(answer.status === 401 ? "You are signed out. Load the page again to sign in." : ((await answer.json()).detail ?? ""));
    button.value = is ? "no" : "yes";
    button.setAttribute("aria-pressed", is);
    say(is ? "Now a favorite of yours" : "No favorite any more");
  } catch (cause) {
    toast(`This was not kept. ${cause.message}`);
  }
});

for (const button of document.querySelectorAll("[data-share]")) {
  button.hidden = !navigator.share;
  button.addEventListener("click", () => navigator.share({ title: button.dataset.share, url: $("link").textContent }).catch(() => {}));
}

// copied returns what is copied of an element: its text, or that of each message with who says it,
// and the names of those that go between.
const copied = (element) => [...element.querySelectorAll("pre, .slot")]
  .map((part) => (part.matches(".slot") ? `[${part.querySelector("code").textContent}]` : (part.dataset.role ? `${part.dataset.role}:\n` : "") + part.textContent))
  .join("\n\n") || element.textContent;

async function copy(button, text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    return toast("The browser does not let this page copy. Select the text and copy it yourself.");
  }
  const empty = button.dataset.copy === "source" ? emptyFields().length : 0;
  button.dataset.name ??= button.textContent;
  button.textContent = "Copied" + (empty ? `, ${empty} empty` : "");
  button.classList.add("did");
  say("Copied" + (empty ? `, with ${empty} ${empty > 1 ? "values" : "value"} left empty` : ""));
  setTimeout(() => { button.textContent = button.dataset.name; button.classList.remove("did"); }, 2000);
}

document.addEventListener("click", async (e) => {
  const button = e.target.closest("[data-copy]");
  if (button) copy(button, copied($(button.dataset.copy)));
});

// In a list, the text is that of the page of the prompt.
document.addEventListener("click", async (e) => {
  const button = e.target.closest("[data-copy-of]");
  if (!button) return;
  try {
    const source = await fetchPart(button.dataset.copyOf, "source");
    await copy(button, copied(source));
  } catch (cause) {
    toast(`The text was not copied. ${cause.message}`);
  }
});

document.addEventListener("click", (e) => {
  const link = e.target.closest("a[data-view]");
  if (!link || !plainClick(e)) return;
  e.preventDefault();
  for (const other of document.querySelectorAll("a[data-view]")) {
    other.toggleAttribute("aria-current", other === link);
    if (other === link) other.setAttribute("aria-current", "true");
    $(other.dataset.view).hidden = other !== link;
  }
  history.replaceState(history.state, "", link.href);
});

// Programs stand one below the other; with this there is a tab for each. The one that somebody took
// last is open on the next page, too.
for (const box of document.querySelectorAll(".programs")) {
  const all = [...box.querySelectorAll(".program")];
  if (all.length < 2) continue;
  const list = Object.assign(document.createElement("div"), { className: "tabs", role: "tablist", ariaLabel: "Programs" });
  const tabs = all.map((section) => {
    const tab = Object.assign(document.createElement("button"), { type: "button", textContent: section.dataset.tab, role: "tab" });
    tab.setAttribute("aria-controls", section.id);
    section.role = "tabpanel";
    return tab;
  });
  const open = (i) => all.forEach((section, n) => {
    section.hidden = n !== i;
    tabs[n].ariaSelected = n === i;
    tabs[n].tabIndex = n === i ? 0 : -1;
  });
  const take = (i) => {
    open(i);
    try { localStorage.setItem("program", tabs[i].textContent); } catch { /* then the first is open */ }
  };
  list.append(...tabs);
  list.addEventListener("click", (e) => { if (tabs.includes(e.target)) take(tabs.indexOf(e.target)); });
  list.addEventListener("keydown", (e) => {
    const at = tabs.indexOf(e.target), last = tabs.length - 1;
    const to = { ArrowRight: at < last ? at + 1 : 0, ArrowLeft: at > 0 ? at - 1 : last, Home: 0, End: last }[e.key];
    if (at < 0 || to === undefined) return;
    e.preventDefault();
    take(to);
    tabs[to].focus();
  });
  box.prepend(list);
  open(Math.max(tabs.findIndex((tab) => tab.textContent === localStorage.getItem("program")), 0));
}

// A long text is folded at first, and unfolds for one who goes into it by keys.
function unfold() {
  for (const part of document.querySelectorAll(".long")) part.classList.remove("long");
  document.querySelector(".unfold")?.remove();
}
$("unfold")?.addEventListener("click", () => {
  unfold();
  document.querySelector("[data-copy=source]").focus({ preventScroll: true });
});
for (const part of document.querySelectorAll(".long")) part.addEventListener("focusin", unfold);

// Values that the text needs and that are still empty: their number stands by the button that copies and by the one that
// opens the form, and their places in the text look open.
function emptyFields() {
  return [...document.querySelectorAll("#fill [data-blank]")].filter((f) => f.dataset.blank && !f.value);
}
function tellEmpty() {
  const empty = emptyFields();
  for (const place of document.querySelectorAll("[data-empty]")) place.textContent = empty.length ? `${empty.length} empty` : "";
  for (const mark of document.querySelectorAll("mark[data-v]")) mark.classList.toggle("open", empty.some((f) => f.id === "v" + mark.dataset.v));
}
tellEmpty();

const blanks = new Map(); // what stands for a variable without a value, by the mark around it
for (const mark of document.querySelectorAll("mark[data-v]")) {
  const field = $("v" + mark.dataset.v);
  blanks.set(mark, field?.value && field.tagName !== "SELECT" ? field.dataset.blank || field.placeholder : mark.textContent);
}
$("fill")?.addEventListener("input", (e) => {
  for (const mark of document.querySelectorAll(`mark[data-v="${e.target.name.slice(1)}"]`)) {
    mark.textContent = e.target.value || blanks.get(mark);
  }
  tellEmpty();
});
$("fill")?.addEventListener("submit", (e) => e.preventDefault());
// The places of the variable that is filled in are marked.
for (const [type, on] of [["focusin", true], ["focusout", false]]) {
  $("fill")?.addEventListener(type, (e) => {
    for (const mark of document.querySelectorAll(`mark[data-v="${e.target.name?.slice(1)}"]`)) mark.classList.toggle("at", on);
  });
}

// What somebody wrote and did not save stays in the browser until they sign out.
function forgetAll() {
  sessionStorage.clear();
  for (const key of Object.keys(localStorage)) if (key.startsWith(draftOf(""))) localStorage.removeItem(key);
}
document.addEventListener("submit", (e) => { if (e.target.matches("[action$='/signout']")) forgetAll(); });
document.addEventListener("click", (e) => { if (e.target.closest("a")?.pathname === "/.auth/logout") forgetAll(); });

// Keys

// An account comes in parts, each of which says where the next one is; they are saved as one file.
document.querySelector("[data-parts]")?.addEventListener("click", async (e) => {
  e.preventDefault();
  const link = e.currentTarget;
  const parts = [];
  try {
    for (let next = link.href; next; ) {
      const answer = await fetch(next).catch(() => { throw new Error(unreachable()); });
      if (!answer.ok) throw new Error("This cannot be loaded now.");
      parts.push(await answer.blob());
      next = answer.headers.get("Link")?.match(/<([^>]*)>; rel="next"/)?.[1];
    }
    const file = document.createElement("a");
    file.href = URL.createObjectURL(new Blob(parts));
    file.download = link.download;
    file.click();
    URL.revokeObjectURL(file.href);
  } catch (cause) {
    toast(`The download is not complete. ${cause.message}`);
  }
});

// A file of many prompts is taken in by a request after another, each of which does a part. Its rows
// stay, and what is to be waited for is.
function pause(answer) {
  const seconds = Number(answer.headers.get("Retry-After")) || 1;
  return new Promise((done) => setTimeout(done, seconds * 1000));
}

let part = 0; // the run of requests that counts: one who imports does not wait for the rest of the preview

async function takeParts(form, button) {
  const mine = ++part;
  let rows = [[], []]; // of those that something is said about, and of the others
  if (button.value === "look") rows = [...$("report").querySelectorAll("tbody")].map((table) => [...table.children]);
  while (form) {
    const body = new FormData(form, button);
    button.disabled = true;
    button.textContent = button.dataset.doing;
    if (button.value !== "look") button.nextElementSibling.hidden = true;
    const answer = await fetch(form.action, { method: "POST", body }).catch(() => { throw new Error(unreachable()); });
    if (mine !== part) return;
    if (answer.status === 429 || answer.status === 503) {
      await pause(answer);
      if (mine !== part) return;
      button.disabled = false; // or the next request would not say what it is for
      continue;
    }
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (mine !== part) return;
    const report = page.getElementById("report");
    if (!report) throw new Error(page.querySelector("#wrong, main")?.textContent.trim().slice(0, 200) ?? "");
    const tables = [...report.querySelectorAll("tbody")];
    tables.forEach((table, i) => table.prepend(...rows[i]));
    tables[0]?.prepend(...tables[0].querySelectorAll(".wrong")); // those that were rejected
    rows = tables.map((table) => [...table.children]);
    const others = report.querySelector("#others"), focused = $("report").contains(document.activeElement) && document.activeElement.value;
    if (others) Object.assign(others, { hidden: !rows[1].length, open: $("others").open });
    $("report").replaceWith(report);
    if (focused) report.querySelector(`button[value=${focused}]`)?.focus();
    $("live").textContent = report.querySelector("[role=status]").textContent;
    button = report.querySelector("[data-next]");
    form = button?.form;
  }
}

function goOn(form, button) {
  takeParts(form, button).catch((cause) => {
    toast(`This is not complete. ${cause.message}`);
    for (const b of $("report").querySelectorAll("form button")) {
      b.disabled = false;
      if (b === button) b.textContent = "Go on";
    }
  });
}
document.addEventListener("submit", (e) => {
  if (!e.target.dataset.partsOf) return;
  e.preventDefault();
  goOn(e.target, e.submitter);
});
const toLook = document.querySelector("#report [value=look][data-next]");
if (toLook) goOn(toLook.form, toLook);

// A file that is too long is not sent for nothing.
const picked = $("file");
function fits() {
  const file = picked.files[0], most = +picked.dataset.most, size = (bytes) => `${+(bytes / 2 ** 20).toFixed(1)} MiB`;
  const wrong = file?.size > most ? `${file.name} has ${size(file.size)}, and this page takes ${size(most)}. Split it, or use the command line: prompthub import ${file.name}` : "";
  picked.setCustomValidity(wrong);
  $("file-wrong").textContent = wrong;
  $("file-wrong").hidden = !wrong;
  return !wrong;
}
picked?.addEventListener("change", fits);

// A file that is dropped on a form that takes one is looked at.
const drop = document.querySelector("form[data-drop]");
for (const type of ["dragover", "dragleave", "drop"]) {
  drop?.addEventListener(type, (e) => {
    const { files, types } = e.dataTransfer;
    if (!types.includes("Files")) return;
    e.preventDefault();
    drop.classList.toggle("over", type === "dragover");
    if (type !== "drop") return;
    if (files.length !== 1) {
      toast("Drop one file, or a ZIP of many.");
      return;
    }
    picked.files = files;
    if (fits()) drop.requestSubmit(drop.querySelector(".primary"));
  });
}

// Tags are moved by dragging their handles, or by the arrow keys on them. Places follow, and as few as can be change.
const tagList = document.querySelector(".catalog");
function moveTag(row, before) {
  const grip = row.querySelector(".grip");
  tagList.insertBefore(row, before);
  grip.focus({ preventScroll: true });
  const places = [...tagList.children].map((r) => r.querySelector("[name=order]"));
  const i = places.indexOf(row.querySelector("[name=order]"));
  const low = i ? +places[i - 1].value : -1, high = i + 1 < places.length ? +places[i + 1].value : low + 20;
  let at = Math.max(Math.floor((low + high) / 2), low + 1);
  places[i].value = at;
  for (let j = i + 1; j < places.length && +places[j].value <= at; j++) places[j].value = ++at;
  say(`${grip.getAttribute("aria-label").slice(5)} is number ${i + 1} of ${places.length}`);
}
tagList?.addEventListener("keydown", (e) => {
  const row = e.target.closest(".grip") && e.target.closest(".tagrow");
  if (!row || !["ArrowUp", "ArrowDown"].includes(e.key)) return;
  e.preventDefault();
  if (e.key === "ArrowUp" && row.previousElementSibling) moveTag(row, row.previousElementSibling);
  if (e.key === "ArrowDown" && row.nextElementSibling) moveTag(row, row.nextElementSibling.nextElementSibling);
});
tagList?.addEventListener("pointerdown", (e) => {
  const grip = e.target.closest(".grip"), row = grip?.closest(".tagrow");
  if (!row || e.button !== 0) return;
  e.preventDefault();
  row.classList.add("dragged");
  const move = ({ clientY: y }) => {
    const over = [...tagList.children].find((r) => r !== row && y >= r.getBoundingClientRect().top && y < r.getBoundingClientRect().bottom);
    if (!over) return;
    const down = over.compareDocumentPosition(row) & Node.DOCUMENT_POSITION_PRECEDING;
    moveTag(row, down ? over.nextElementSibling : over);
  };
  const end = () => {
    row.classList.remove("dragged");
    removeEventListener("pointermove", move);
    for (const type of ["pointerup", "pointercancel"]) removeEventListener(type, end);
  };
  addEventListener("pointermove", move);
  for (const type of ["pointerup", "pointercancel"]) addEventListener(type, end);
});

const keys = $("keys");
const keysOn = () => localStorage.getItem("keys") !== "off";
$("keys-on").checked = keysOn();
$("keys-on").addEventListener("change", (e) => localStorage.setItem("keys", e.target.checked ? "on" : "off"));

// step moves the focus to the next prompt of a list, or to the one before.
function step(by) {
  const titles = [...document.querySelectorAll(".cards h2 a")];
  const at = titles.indexOf(document.activeElement?.closest(".cards > li")?.querySelector("h2 a"));
  const next = titles[at < 0 ? (by > 0 ? 0 : titles.length - 1) : at + by];
  if (next) next.focus();
  else if (by > 0) document.querySelector("#results .next a")?.click();
}

const byKey = {
  "/": () => ($("q") ? ($("q").focus(), $("q").select()) : location.assign("/app")),
  j: () => step(1),
  k: () => step(-1),
  c: () => (document.activeElement.closest(".cards > li")?.querySelector("[data-copy-of]") ?? document.querySelector("[data-copy=source]") ?? document.querySelector("main [data-copy]"))?.click(),
  n: () => document.querySelector("header a[href$='/prompts/new']")?.click(),
  "?": () => keys.showModal(),
};
document.addEventListener("keydown", (e) => {
  // Until the next frame a dialog that was closed still has the focus.
  if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest("input, textarea, select, dialog[open]") || !Object.hasOwn(byKey, e.key)) return;
  if (e.key !== "?" && !keysOn()) return;
  e.preventDefault();
  byKey[e.key]();
});
$("keys-show").addEventListener("click", () => keys.showModal());

// The palette: what one can go to or do here, by its name, and prompts by words.

const palette = $("palette"), wish = $("wish");

// offers returns what the page itself offers: its links to pages, its orders, and what can be done with a prompt.
function offers() {
  const all = [];
  const add = (name, kind, act) => { if (name && !all.some((o) => o.name === name)) all.push({ name, kind, act }); };
  for (const a of document.querySelectorAll("header nav a, .who a")) add(a.textContent.trim(), "page", () => location.assign(a.href));
  for (const a of document.querySelectorAll("#results .choices a")) add(a.textContent.trim(), "order", () => a.click());
  for (const e of document.querySelectorAll("#favorite button, .manage a.button, .manage form.row > button, [data-copy=source]"))
    add(e.textContent.trim(), "here", () => e.click());
  if ($("share")) add("Share", "here", () => { $("share").open = true; $("share").querySelector("summary").focus(); });
  add("Keyboard shortcuts", "here", () => keys.showModal());
  return all;
}

let wished = [], chosen = 0, hunt = new AbortController();

// choose marks one of those shown; the focus stays in the field.
function choose(n) {
  const shown = [...$("wishes").children];
  chosen = shown.length ? (n + shown.length) % shown.length : 0;
  shown.forEach((li, i) => li.setAttribute("aria-selected", i === chosen));
  if (shown[chosen]) wish.setAttribute("aria-activedescendant", shown[chosen].id);
  else wish.removeAttribute("aria-activedescendant");
  shown[chosen]?.scrollIntoView({ block: "nearest" });
}

function showWishes(all) {
  wished = all;
  $("wishes").replaceChildren(...all.map((o, i) => {
    const li = Object.assign(document.createElement("li"), { id: `wish-${i}` });
    li.setAttribute("role", "option");
    li.append(Object.assign(document.createElement("span"), { textContent: o.name, dir: "auto" }), Object.assign(document.createElement("small"), { textContent: o.kind }));
    return li;
  }));
  $("nowish").hidden = all.length > 0;
  choose(0);
}

// seek shows at once what the page offers, and in a moment the prompts that the server finds.
function seek() {
  hunt.abort();
  const mine = hunt = new AbortController();
  const text = wish.value.trim().toLowerCase();
  const here = offers().filter((o) => o.name.toLowerCase().includes(text));
  showWishes(here);
  if (text.length < 2) return;
  setTimeout(async () => {
    if (mine.signal.aborted) return;
    try {
      const found = await fetchPart(`/app?q=${encodeURIComponent(text)}`, "results", mine.signal);
      const prompts = [...found.querySelectorAll(".cards h2 a")].slice(0, 8).map((a) => ({ name: a.textContent, kind: "prompt", act: () => location.assign(a.href) }));
      if (mine.signal.aborted) return;
      const at = chosen;
      showWishes([...here, ...prompts]);
      choose(at);
      say(`${here.length + prompts.length} found`);
    } catch { /* what the page offers is shown already */ }
  }, 180);
}

function grant(n) {
  const o = wished[n];
  if (!o) return;
  palette.close();
  o.act();
}

function openPalette() {
  if (document.querySelector("dialog[open]")) return;
  wish.value = "";
  palette.showModal();
  seek();
}

wish.addEventListener("input", seek);
wish.addEventListener("keydown", (e) => {
  const by = { ArrowDown: 1, ArrowUp: -1 }[e.key];
  if (by) choose(chosen + by);
  else if (e.key === "Enter") grant(chosen);
  else if (e.key === "Escape") palette.close(); // and not what is written first, as in other fields for a search
  else return;
  e.preventDefault();
});
$("wishes").addEventListener("click", (e) => grant([...$("wishes").children].indexOf(e.target.closest("li"))));
palette.addEventListener("close", () => hunt.abort());
$("palette-show").addEventListener("click", openPalette);
document.addEventListener("keydown", (e) => {
  if (e.key.toLowerCase() !== "k" || !(e.ctrlKey || e.metaKey) || e.altKey || e.shiftKey) return;
  e.preventDefault();
  openPalette();
});

// A name that a form proposes is replaced by the first key. To select is to focus, which the browser does itself, soon.
const proposed = document.querySelector("input[autofocus]");
if (proposed && proposed === document.activeElement) proposed.select();
else proposed?.addEventListener("focus", () => proposed.select(), { once: true });

// A link has its secret after the sign #, which browsers do not send: its form takes it.
const secret = document.querySelector("input[data-hash]");
function takeSecret() {
  if (location.hash.length < 2) return;
  secret.value = location.hash.slice(1);
  history.replaceState(history.state, "", location.pathname + location.search);
}
if (secret) {
  takeSecret();
  addEventListener("hashchange", takeSecret); // another link, in the same tab
}

// A page that only leads on.
document.querySelector("a[data-follow]")?.click();
