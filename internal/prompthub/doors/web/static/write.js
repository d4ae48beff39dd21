// The form that prompts are written in. It works without this. With it, the text grows and shows its
// variables, names complete themselves, and what is not saved outlives the page.

import { $, draftOf, plainClick, say, toast, unreachable } from "./app.js";

const on = (target, type, act) => target.addEventListener(type, act);
const make = (name, properties) => Object.assign(document.createElement(name), properties);
const counted = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;

// Variables, as the server finds them (prompt.ParseTemplate).

const most = 100, longest = 64;
const isName = (name) => name.length <= longest && /^[_\p{L}][\p{L}\p{N}\p{M}_.-]*$/u.test(name);

// placeholders returns the places of variables in a text.
export function placeholders(text) {
  const all = [];
  for (let at = 0; (at = text.indexOf("{", at)) >= 0; at++) {
    const double = text[at + 1] === "{";
    if (!double && text[at - 1] !== "$") continue;
    const begin = at + 1 + double, brace = /[{}]/g;
    brace.lastIndex = begin;
    const end = brace.exec(text)?.index;
    if (end === undefined || !text.startsWith(double ? "}}" : "}", end)) continue;
    const name = text.slice(begin, end).split(":")[0].replace(/^ +| +$/g, "");
    if (!isName(name.replaceAll(" ", "_"))) continue;
    at = end + double;
    all.push({ from: begin - 2, to: at + 1, name: name.replace(/ +/g, "_") });
  }
  return all;
}

const include = /@@@langfusePrompt:name=[^\n|@]+\|(?:label|version)=[\w.-]+@@@/g;

const areas = (form) => [...form.querySelectorAll("#text, [name=content]")];
const declared = (form) => [...form.querySelectorAll("[name=vname]")].map((f) => f.value.trim()).filter(Boolean);

// known returns the names of the variables of a form, of which there are at most 100, and of those
// that stay text.
function known(form, texts) {
  const names = new Set(declared(form)), lost = new Set();
  for (const { name } of texts.flatMap(placeholders)) if (!names.has(name)) (names.size < most ? names : lost).add(name);
  return { names, lost };
}

// paint marks the variables below the texts. The marks are below what one writes and change nothing
// of it.
function paint(form) {
  const { names, lost } = known(form, areas(form).map((area) => area.value));
  for (const area of areas(form)) {
    const text = area.value, parts = [];
    const marks = text.length > 100000 ? [] : [...placeholders(text), ...[...text.matchAll(include)].map((m) => ({ from: m.index, to: m.index + m[0].length }))].sort((a, b) => a.from - b.from);
    let at = 0;
    for (const { from, to, name } of marks) {
      if (from < at) continue;
      parts.push(text.slice(at, from), make("mark", { textContent: text.slice(from, to), className: !name ? "include" : names.has(name) ? "" : "lost" }));
      at = to;
    }
    area.previousElementSibling.replaceChildren(...parts, `${text.slice(at)}\n`);
  }
  const list = [...lost];
  $("lost").hidden = !list.length;
  const told = list.length ? `A prompt has at most ${most} variables. ${list.length === 1 ? "This one stays" : `These ${list.length} stay`} text: ${list.slice(0, 20).join(", ")}${list.length > 20 ? ", …" : ""}` : "";
  if ($("lost").textContent !== told) $("lost").textContent = told;
}

// wrap puts a text above its marks.
function wrap(area) {
  const focused = document.activeElement === area;
  const box = make("div", { className: "editor" }), under = make("pre", { dir: area.dir });
  under.ariaHidden = "true";
  area.before(box);
  box.append(under, area);
  if (focused) area.focus({ preventScroll: true });
  on(area, "input", (e) => complete(area, e));
  on(area, "keydown", (e) => completing === area && byKey(e));
  on(area, "blur", () => {
    last = { id: area.id, at: area.selectionStart };
    close();
  });
}

// Completion after {{

const menu = make("ul", { id: "complete", popover: "manual", className: "complete" });
menu.setAttribute("role", "listbox");
menu.setAttribute("aria-label", "Variables");
document.body.append(menu);
let completing = null, chosen = 0, typed = "";

function close() {
  if (!completing) return;
  menu.hidePopover();
  for (const name of ["aria-controls", "aria-activedescendant", "aria-autocomplete"]) completing.removeAttribute(name);
  completing = null;
}

// caret returns where a place of a text is in the window.
function caret(area, offset) {
  const walker = document.createTreeWalker(area.previousElementSibling, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode()); offset -= node.length) {
    if (offset > node.length) continue;
    const range = document.createRange();
    range.setStart(node, offset);
    return range.getClientRects()[0] ?? node.parentElement.getBoundingClientRect();
  }
  return area.getBoundingClientRect();
}

function complete(area, e) {
  const at = area.selectionStart;
  const begun = e.inputType?.startsWith("delete") ? null : /\{\{ ?([^{}:\n]{0,64})$/.exec(area.value.slice(Math.max(0, at - 80), at));
  if (!begun || at !== area.selectionEnd || !menu.showPopover) return close();
  typed = begun[1];
  const others = areas(area.form).map((a) => (a === area ? a.value.slice(0, at - begun[0].length) + " " + a.value.slice(at).replace(/^[^{}\n]*\}\}/, "") : a.value));
  const all = [...known(area.form, others).names].filter((n) => n !== typed && n.toLowerCase().startsWith(typed.toLowerCase())).slice(0, 8);
  if (!all.length) return close();
  paint(area.form);
  menu.replaceChildren(...all.map((name, i) => {
    const li = make("li", { id: `complete-${i}`, textContent: name });
    li.setAttribute("role", "option");
    on(li, "pointerdown", (press) => { press.preventDefault(); choose(i); take(); });
    return li;
  }));
  completing = area;
  menu.showPopover();
  const { left, bottom } = caret(area, at);
  menu.style.left = `${Math.max(8, Math.min(left, innerWidth - menu.offsetWidth - 8))}px`;
  menu.style.top = `${bottom + 4 + menu.offsetHeight > innerHeight ? bottom - 28 - menu.offsetHeight : bottom + 4}px`;
  area.setAttribute("aria-controls", "complete");
  area.setAttribute("aria-autocomplete", "list");
  choose(0);
  say(`${counted(all.length, "variable")} to choose from: ${all[0]}`);
}

function choose(n) {
  const all = [...menu.children];
  chosen = (n + all.length) % all.length;
  all.forEach((li, i) => li.setAttribute("aria-selected", i === chosen));
  completing.setAttribute("aria-activedescendant", all[chosen].id);
}

// insert writes in a text as its author does, who can undo it.
function insert(area, from, to, text) {
  area.focus();
  area.setSelectionRange(from, to);
  if (document.execCommand("insertText", false, text)) return;
  area.setRangeText(text, from, to, "end");
  area.dispatchEvent(new InputEvent("input", { bubbles: true }));
}

// place puts an include where somebody wrote last. What is stored is the line itself.
let last = null; // the text that somebody wrote in, and where
function place(form, name) {
  const area = $(last?.id) ?? areas(form).at(-1), at = $(last?.id) ? Math.min(last.at, area.value.length) : area.value.length;
  const before = at && area.value[at - 1] !== "\n" ? "\n" : "", after = area.value[at] === "\n" ? "" : "\n"; // a line of its own
  insert(area, at, at, `${before}@@@langfusePrompt:name=${name}|label=production@@@${after}`);
}

function take() {
  const area = completing, name = menu.children[chosen].textContent, at = area.selectionStart;
  const rest = /^[\p{L}\p{N}\p{M}_.-]*\}\}/u.exec(area.value.slice(at, at + 80));
  close();
  insert(area, at - typed.length, at + (rest?.[0].length ?? 0), `${name}}}`);
}

function byKey(e) {
  const by = { ArrowDown: 1, ArrowUp: -1 }[e.key];
  if (by) choose(chosen + by);
  else if (e.key === "Enter" || e.key === "Tab") take();
  else if (e.key === "Escape") close();
  else return e.key.startsWith("Arrow") || e.key === "Home" || e.key === "End" ? close() : undefined;
  e.preventDefault();
  e.stopPropagation();
}
on(window, "scroll", close);

// Drafts: what is written stays in this browser until it is saved, whatever becomes of the page.

const fieldsOf = (form, button) => new URLSearchParams(new FormData(form, button));
const placeOf = (form) => draftOf(form.getAttribute("action"));
let unsaved = false;
let offered = null; // the draft that its author was asked about and did not decide on

const packed = (form) => JSON.stringify({ at: Date.now(), fields: String(fieldsOf(form)) });

function keep(form) {
  unsaved = true;
  try {
    if (offered) localStorage.setItem(`${placeOf(form)} before`, offered); // nobody has decided on it
    offered = null;
    localStorage.setItem(placeOf(form), packed(form));
  } catch { /* a browser that keeps nothing still warns */ }
}

function forget(form) {
  if (unsaved) localStorage.removeItem(placeOf(form)); // else it has one that nobody has decided on
  unsaved = false;
}

// controls returns where one writes in a form, by what it is called in every answer.
const controls = (form) => new Map([...form.querySelectorAll("input[name]:not([type=hidden]), textarea, select")].map((f) => [f.id || `${f.name} ${f.value}`, f]));
const isBox = (field) => field.matches("[type=checkbox], [type=radio]");
const held = (field) => (isBox(field) ? field.checked : field.value);
const scroller = (field) => field.closest(".editor") ?? field;

// carry puts what was written into a form since it was sent, and the focus, into the one that takes its place.
function carry(form, sent, next) {
  const focus = next.querySelector("[autofocus]");
  focus?.removeAttribute("autofocus"); // only a whole page may use it
  const to = controls(next);
  let at;
  for (const [key, field] of controls(form)) {
    const place = to.get(key);
    if (!place) continue;
    if (held(field) !== sent.get(key)) place[isBox(field) ? "checked" : "value"] = held(field);
    if (field === document.activeElement) at = { place, start: field.selectionStart, end: field.selectionEnd, top: scroller(field).scrollTop };
  }
  form.replaceWith(next);
  if (!at) return focus?.focus();
  at.place.focus({ preventScroll: true });
  if (typeof at.start === "number") at.place.setSelectionRange(at.start, at.end);
  requestAnimationFrame(() => { scroller(at.place).scrollTop = at.top; });
}

// rewrite shows the form as the server writes it for some fields, with what was written meanwhile.
async function rewrite(form, fields) {
  const sent = new Map([...controls(form)].map(([key, field]) => [key, held(field)]));
  const answer = await fetch(form.action, { method: "POST", body: fields }).catch(() => { throw new Error(unreachable()); });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const next = page.getElementById("write");
  if (!next) throw new Error(page.querySelector("main p")?.textContent ?? "This did not work.");
  document.adoptNode(next);
  areas(next).forEach(wrap);
  carry(form, sent, next);
  writing(next);
  keep(next);
}

// fill puts fields into a form where it has a place for each of them and for no other.
function fill(form, fields) {
  const all = [...form.elements].filter((f) => f.name && f.localName !== "button");
  const boxes = all.filter(isBox), texts = all.filter((f) => !isBox(f));
  const ticks = [...fields].filter(([name]) => boxes.some((box) => box.name === name));
  const values = [...fields].filter(([name]) => !boxes.some((box) => box.name === name));
  const ticked = (box) => ticks.some(([name, value]) => name === box.name && value === box.value);
  const takes = (f, name, value) => f.name === name && (!f.options || [...f.options].some((o) => o.value === value));
  if (values.length !== texts.length || !texts.every((f, i) => takes(f, ...values[i]))) return false;
  if (boxes.filter(ticked).length !== ticks.length) return false;
  texts.forEach((f, i) => { [, f.value] = values[i]; });
  for (const box of boxes) box.checked = ticked(box);
  for (const e of form.querySelectorAll("[data-limit]")) e.dispatchEvent(new Event("restored"));
  return true;
}

function ago(at) {
  const minutes = Math.round((Date.now() - at) / 60000);
  const [n, unit] = minutes < 60 ? [minutes, "minute"] : minutes < 2880 ? [Math.round(minutes / 60), "hour"] : [Math.round(minutes / 1440), "day"];
  return n ? new Intl.RelativeTimeFormat("en").format(-n, unit) : "a moment ago";
}

// same reports whether a draft has what the form has: forms differ in what names them.
function same(fields, form) {
  const of = (all) => String(new URLSearchParams([...all].filter(([name]) => name !== "key" && name !== "revision" && name !== "version").map(([name, value]) => [name, value.replaceAll("\r\n", "\n")])));
  return of(fields) === of(fieldsOf(form));
}

// offer asks its author what to do with a draft. It is put into the form only where they say so.
function offer(form) {
  const place = placeOf(form);
  const slot = localStorage.getItem(place) ? place : `${place} before`, raw = localStorage.getItem(slot);
  const draft = JSON.parse(raw);
  if (!draft || same(new URLSearchParams(draft.fields), form)) return;
  offered = raw;
  const note = make("p", { className: "banner", id: "draft" });
  const tell = (text, buttons) => {
    note.replaceChildren(text);
    for (const [name, act] of Object.entries(buttons)) {
      const button = make("button", { type: "button", className: "quiet", textContent: name });
      on(button, "click", act);
      note.append(" ", button);
    }
    say(text);
  };
  const discard = () => {
    localStorage.removeItem(offered ? slot : `${place} before`);
    offered = null;
    note.remove();
  };
  const goOn = async () => {
    const now = $("write"), mine = unsaved ? packed(now) : null, fields = new URLSearchParams(draft.fields);
    now.inert = true;
    offered = null; // it is decided on
    try {
      if (fill(now, fields)) {
        paint(now);
        preview(0);
      } else {
        fields.set("do", "show");
        await rewrite(now, fields);
      }
    } catch (cause) {
      offered = raw;
      return tell(`What you wrote is kept, but cannot be shown now. ${cause.message}`, { "Try again": goOn, "Discard it": discard });
    } finally {
      now.inert = false;
    }
    localStorage.removeItem(slot);
    offered = mine; // nothing that somebody wrote is lost
    keep($("write"));
    tell("What you wrote is back. It is not saved yet.", { "Discard it": () => { forget($("write")); location.reload(); } });
  };
  tell(`You wrote something here ${ago(draft.at)} and did not save it.`, { "Go on with it": goOn, "Discard it": discard });
  form.parentElement.before(note);
}

// Drafts that nobody came back to are forgotten after a month.
for (const key of Object.keys(localStorage)) {
  if (key.startsWith("draft ") && JSON.parse(localStorage.getItem(key))?.at < Date.now() - 30 * 86400000) localStorage.removeItem(key);
}

on(document, "click", async (e) => {
  const button = e.target.closest("#write button[name=do]");
  if (!button) return;
  e.preventDefault();
  const { form } = button;
  if (form.ariaBusy) return; // the answer to another is on its way
  form.ariaBusy = "true";
  // These leave every field where it is. What the others change waits, as nothing written there
  // would have a place in the answer.
  const part = /^(similar|suggest|preview|add-)/.test(button.value) ? null : button.closest(".messages, .declare, .field");
  const fields = fieldsOf(form, button);
  part?.toggleAttribute("inert", true);
  try {
    await rewrite(form, fields);
  } catch (cause) {
    form.ariaBusy = null;
    part?.toggleAttribute("inert", false);
    if (document.activeElement === document.body) button.focus();
    toast(`The form could not be changed. ${cause.message}`);
  }
});
on(document, "input", (e) => {
  const form = e.target.closest("#write");
  if (!form) return;
  keep(form);
  if (e.target.matches("#text, [name=content], [name=vname]")) paint(form);
  if (e.target.matches("#text, [name=content], .variable *")) preview(600);
});
// Two versions that were saved apart: each difference can be taken from the other one.
on(document, "click", (e) => {
  const button = e.target.closest("[data-hunk]");
  if (!button) return;
  const { hunk, before, mine, theirs } = button.dataset, taken = button.ariaPressed === "true";
  const [from, to] = (taken ? [theirs, mine] : [mine, theirs]).map((all) => all.split("\n").slice(0, -1));
  const area = $("text"), lines = area.value.split("\n");
  const fits = (at) => from.every((line, i) => lines[at + i] === line) && (+hunk ? lines[at - 1] === before : at === 0);
  const places = [...lines.keys(), lines.length].filter(fits).sort((a, b) => Math.abs(a - hunk) - Math.abs(b - hunk));
  if (!places.length) return toast("You changed these lines: copy what you need from above.");
  lines.splice(places[0], from.length, ...to);
  insert(area, 0, area.value.length, lines.join("\n"));
  button.ariaPressed = !taken;
  button.textContent = taken ? "Take what was saved" : "Put mine back";
  button.focus();
});

on(document, "submit", (e) => { if (e.target.id === "write" && !e.defaultPrevented) unsaved = false; });
on(document, "click", (e) => {
  if (!e.target.closest("a")?.matches("#write .send a") || !plainClick(e)) return;
  if (unsaved && !confirm("Leave without saving? What you wrote here is discarded.")) return e.preventDefault();
  forget($("write"));
});
on(window, "beforeunload", (e) => { if (unsaved) e.preventDefault(); });

// preview shows next to the form, where there is room, how readers will see what is written. The newest
// answer counts.
const roomy = matchMedia("(min-width: 64rem) and (scripting: enabled)");
let soon, asking = new AbortController();
function preview(wait) {
  clearTimeout(soon);
  if (roomy.matches) soon = setTimeout(async () => {
    asking.abort();
    const mine = asking = new AbortController(), form = $("write"), fields = fieldsOf(form);
    fields.set("do", "preview");
    try {
      const answer = await fetch(form.action, { method: "POST", body: fields, signal: mine.signal });
      const shown = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("#write .preview");
      shown?.querySelector("h2").removeAttribute("id"); // a form has it, too, after its button
      if (shown && !mine.signal.aborted) $("live-preview").replaceChildren(...document.adoptNode(shown).childNodes);
    } catch { /* the last one stays */ }
  }, wait);
}
on(roomy, "change", () => preview(0));

// counting shows how long a field is while one writes.
function counting(field) {
  const count = document.querySelector(`[data-count="${field.id}"]`);
  const update = () => {
    const over = field.value.length - field.dataset.limit;
    count.textContent = field.value.length;
    count.parentElement.classList.toggle("over", over > 0);
    const message = over > 0 ? `Shorten this by ${counted(over, "character")}.` : "";
    if (message && !field.validationMessage) say(message);
    field.setCustomValidity(message);
  };
  on(field, "input", update);
  on(field, "restored", update);
  update();
}

// including makes of the field for a prompt to include a combobox: what the server finds is there to choose
// from while one types.
function including(field) {
  const form = field.form, list = make("ul", { id: "includes", className: "pop", hidden: true });
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Your prompts");
  for (const [name, value] of Object.entries({ role: "combobox", "aria-expanded": "false", "aria-controls": list.id, "aria-autocomplete": "list" })) field.setAttribute(name, value);
  field.closest(".combo").append(list);
  let hunt = new AbortController(), at = 0, pressed = -1;
  const isOpen = () => !list.hidden;
  const fold = () => {
    hunt.abort();
    list.hidden = true;
    field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-activedescendant");
  };
  const mark = (n) => {
    const all = [...list.children];
    at = (n + all.length) % all.length;
    all.forEach((li, i) => li.setAttribute("aria-selected", i === at));
    field.setAttribute("aria-activedescendant", all[at].id);
    all[at].scrollIntoView({ block: "nearest" });
  };
  const pick = (n) => {
    fold();
    place(form, list.children[n].dataset.name);
  };
  const show = (found) => {
    list.replaceChildren(...found.map((button, i) => {
      const li = make("li", { id: `includes-${i}` });
      li.setAttribute("role", "option");
      li.dataset.name = button.value.slice(8);
      li.append(...document.adoptNode(button).childNodes);
      on(li, "pointerdown", (e) => e.preventDefault()); // the field keeps the focus
      on(li, "click", () => pick(i));
      return li;
    }));
    if (!found.length) {
      fold();
      return say("None of your prompts matches.");
    }
    list.hidden = false;
    field.setAttribute("aria-expanded", "true");
    mark(0);
    say(`${counted(found.length, "prompt")} to choose from: ${list.children[0].textContent}`);
  };
  const seek = (wait) => {
    hunt.abort();
    const mine = hunt = new AbortController();
    setTimeout(async () => {
      if (mine.signal.aborted) return;
      const fields = fieldsOf(form);
      fields.set("do", "find-include");
      try {
        const answer = await fetch(form.action, { method: "POST", body: fields, signal: mine.signal });
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        if (!page.getElementById("include")) throw new Error("This cannot be looked for now.");
        if (!mine.signal.aborted) show([...page.querySelectorAll("#write .found button")]);
      } catch (cause) {
        if (!mine.signal.aborted) toast(cause.name === "TypeError" ? unreachable() : cause.message);
      }
    }, wait);
  };
  on(field, "input", () => seek(180));
  on(field, "focus", () => seek(0));
  on(field, "click", () => { if (!isOpen()) seek(0); });
  on(field, "blur", fold);
  on(field, "keydown", (e) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (by && isOpen()) mark(at + by);
    else if (by) seek(0);
    else if (e.key === "Enter" && isOpen()) pressed = at;
    else if (e.key === "Enter") seek(0);
    else if (e.key === "Escape" && isOpen()) fold();
    else return;
    e.preventDefault();
  });
  on(field, "keypress", (e) => { if (e.key === "Enter") e.preventDefault(); }); // it never sends the form
  on(field, "keyup", (e) => { // not before: the key would write a line in the text, which has the focus then
    if (e.key === "Enter" && pressed >= 0) pick(pressed);
    pressed = -1;
  });
}

// picking lets find tags, and choose no more than there may be.
function picking(picker) {
  const boxes = [...picker.querySelectorAll("[name=tag]")], wish = $("findtag"), more = $("more-tags");
  // gather puts those that were chosen where they stay in view.
  const gather = () => { if (more && !more.open) picker.querySelector(".chosen").append(...boxes.filter((box) => box.checked && more.contains(box)).map((box) => box.closest("li"))); };
  const left = () => boxes.filter((box) => !box.checked && !box.disabled && !box.closest("li").hidden);
  const show = () => {
    const wanted = wish.value.trim().toLowerCase();
    for (const box of boxes) box.closest("li").hidden = !box.checked && !box.parentElement.textContent.toLowerCase().includes(wanted);
    for (const box of boxes) box.parentElement.classList.toggle("first", wanted !== "" && box === left()[0]);
  };
  const update = () => {
    const n = boxes.filter((box) => box.checked).length;
    picker.querySelector("[data-count]").textContent = n;
    for (const box of boxes) box.disabled = !box.checked && n >= picker.dataset.limit;
    show();
  };
  on(picker, "change", update);
  if (more) on(more, "toggle", gather);
  on(wish, "input", () => { if (more && wish.value) more.open = true; show(); if (wish.value) say(left().length ? `${counted(left().length, "tag")}, Enter takes ${left()[0].parentElement.textContent.trim()}` : "No such tag"); });
  on(wish, "keydown", (e) => {
    if (e.key !== "Enter") return;
    e.preventDefault();
    const box = wish.value && left()[0];
    if (!box) return;
    box.click();
    wish.value = "";
    say(`${box.parentElement.textContent.trim()} taken`);
    show();
  });
  on(picker, "restored", () => { gather(); update(); });
  update();
}

function writing(form) {
  areas(form).filter((area) => !area.closest(".editor")).forEach(wrap);
  form.querySelectorAll("[data-limit]:not(fieldset)").forEach(counting);
  picking($("tagpicker"));
  including($("include"));
  paint(form);
  if (areas(form).some((area) => area.value)) preview(0);
}

writing($("write"));
if ($("wrong")) keep($("write"));
else offer($("write"));
