// Times of pages, which are written in UTC, in the zone and the words of the reader: near ones as
// "5 minutes ago", those of today and of the days around it with this word. A time with data-form
// "date" is always written with its day and year, and one with "time" without. One with data-zone
// is written in that zone for all readers, and what has data-elsewhere is shown to those whose
// clocks differ from those of that zone at the time in it. Its second time has no day if it is that
// of the first.

const lang = document.documentElement.lang;
const forms = (options) => new Intl.DateTimeFormat(lang, options);
const clockOf = (timeZone) => ({
  clock: forms({ hour: "2-digit", minute: "2-digit", timeZone }),
  ofYear: forms({ day: "numeric", month: "long", hour: "2-digit", minute: "2-digit", timeZone }),
  dated: forms({ day: "numeric", month: "long", year: "numeric", hour: "2-digit", minute: "2-digit", timeZone }),
  year: forms({ year: "numeric", timeZone }),
});
const clocks = new Map();
const clocksIn = (zone) => {
  if (!clocks.has(zone)) {
    try {
      clocks.set(zone, clockOf(zone || undefined));
    } catch { // a zone that this browser does not know
      clocks.set(zone, undefined);
    }
  }
  return clocks.get(zone);
};
const whole = forms({ dateStyle: "full", timeStyle: "long" });
const distance = new Intl.RelativeTimeFormat(lang, { numeric: "auto" });

const dayOf = (at) => Date.UTC(at.getFullYear(), at.getMonth(), at.getDate()) / 864e5;

const wordsFor = (at, form, now, { clock, ofYear, dated, year }) => {
  if (form === "time") return clock.format(at);
  if (form === "date") return dated.format(at);
  const minutes = Math.trunc((at - now) / 6e4);
  const days = dayOf(at) - dayOf(now);
  if (minutes === 0) return distance.format(0, "second");
  if (Math.abs(minutes) < 60) return distance.format(minutes, "minute");
  if (Math.abs(days) < 2) return `${distance.format(days, "day")}, ${clock.format(at)}`;
  return (year.format(at) === year.format(now) ? ofYear : dated).format(at);
};

// localize writes the times in a part of a page.
export const localize = (part) => {
  const now = new Date();
  for (const own of part.querySelectorAll("[data-elsewhere]")) {
    const [start, end] = [...own.querySelectorAll("time")].map((time) => new Date(time.dateTime));
    if (end && dayOf(start) === dayOf(end)) own.querySelectorAll("time")[1].dataset.form = "time";
  }
  for (const time of part.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime);
    if (isNaN(at)) continue;
    const its = clocksIn(time.dataset.zone);
    if (!its) continue;
    const words = wordsFor(at, time.dataset.form, now, its);
    if (time.textContent !== words) time.textContent = words;
    time.title = whole.format(at);
  }
  for (const own of part.querySelectorAll("[data-elsewhere]")) {
    const at = new Date(own.querySelector("time").dateTime);
    const its = clocksIn(own.dataset.elsewhere);
    own.hidden = !its || its.dated.format(at) === clocksIn(undefined).dated.format(at);
  }
};

localize(document);
setInterval(() => document.hidden || localize(document), 6e4);
document.addEventListener("visibilitychange", () => document.hidden || localize(document));
new MutationObserver((changes) => {
  for (const { addedNodes } of changes) for (const node of addedNodes) if (node.querySelectorAll) localize(node);
}).observe(document.body, { childList: true, subtree: true });
