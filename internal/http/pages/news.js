// Numbers of news, in the links of the bar: the address that data-news names answers with
// numbers by names, and a link with data-new has the one of its name, in a span. They are asked for
// once a minute in a tab, on a page of such a link at once, and whenever refresh is called.

const bar = document.querySelector("[data-news]");
const kept = "news";
const keptFor = 6e4;

const show = (numbers) => {
  for (const link of document.querySelectorAll("[data-new]")) {
    const n = numbers[link.dataset.new];
    link.querySelector("span").textContent = n ? ` (${n})` : "";
  }
};

let asking, again;

// refresh asks for the numbers; one call while another is under way asks once more after it.
export const refresh = async () => {
  if (!bar) return;
  if (asking) {
    again = true;
    return;
  }
  asking = true;
  try {
    const answer = await fetch(bar.dataset.news, { redirect: "manual", cache: "no-store" });
    if (answer.ok) {
      const numbers = await answer.json();
      sessionStorage.setItem(kept, JSON.stringify({ at: Date.now(), numbers }));
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
  const { at, numbers } = JSON.parse(sessionStorage.getItem(kept) ?? "{}");
  if (numbers) show(numbers);
  if (!(Date.now() - at < keptFor) || bar.querySelector("[data-new][aria-current]")) refresh();
  document.addEventListener("visibilitychange", () => document.hidden || refresh());
} else {
  sessionStorage.removeItem(kept); // the next one to sign in here is somebody else
}
