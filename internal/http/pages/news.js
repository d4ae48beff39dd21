// Numbers of news, in the links of the bar: the address that data-news names answers with
// numbers by names, and a link with data-new has the one of its name, in a span. They are asked for
// once a minute in a tab, on a page of such a link at once, and whenever refresh is called. A bar with
// data-live asks for changes in between, by the tag of the last answer: every 5 seconds, after a
// minute without one every 15, after ten minutes every 60, and not while the page is hidden.

const bar = document.querySelector("[data-news]");
const kept = "news";
const keptFor = 6e4;

const show = (numbers) => {
  for (const link of document.querySelectorAll("[data-new]")) {
    const n = numbers[link.dataset.new];
    link.querySelector("span").textContent = n ? ` ${n}` : "";
  }
};

let asking, again, timer, tag, asked = 0, changed = Date.now();

const pause = () => {
  const silent = Date.now() - changed;
  if (silent < 6e4) return 5e3;
  return silent < 6e5 ? 15e3 : keptFor;
};

// wait has a bar that is live look after a pause.
const wait = () => {
  clearTimeout(timer);
  if (bar.hasAttribute("data-live")) timer = setTimeout(look, pause());
};

// look asks for changes, and once a minute for all.
const look = async () => {
  if (document.hidden) return;
  await refresh(Date.now() - asked < keptFor ? tag : undefined);
  wait();
};

// refresh asks for the numbers; one call while another is under way asks once more after it.
export const refresh = async (known) => {
  if (!bar) return;
  if (asking) {
    again = true;
    return;
  }
  asking = true;
  try {
    const headers = typeof known === "string" ? { "If-None-Match": known } : {};
    const answer = await fetch(bar.dataset.news, { headers, redirect: "manual", cache: "no-store" });
    if (answer.ok) {
      const numbers = await answer.json();
      if (tag && tag !== answer.headers.get("ETag")) changed = Date.now();
      asked = Date.now();
      tag = answer.headers.get("ETag") ?? undefined;
      sessionStorage.setItem(kept, JSON.stringify({ at: asked, numbers, tag }));
      show(numbers);
    }
  } catch { /* the network comes back */ } finally {
    asking = false;
  }
  if (again) {
    again = false;
    setTimeout(refresh, 1000);
  }
};

if (bar) {
  const was = JSON.parse(sessionStorage.getItem(kept) ?? "{}");
  if (was.numbers) show(was.numbers);
  asked = was.at ?? 0;
  tag = was.tag;
  if (!(Date.now() - asked < keptFor) || bar.querySelector("[data-new][aria-current]")) refresh();
  document.addEventListener("visibilitychange", () => document.hidden || refresh().then(wait));
  wait();
} else {
  sessionStorage.removeItem(kept); // the next one to sign in here is somebody else
}
