import { cellAt, colors, draw, icon, place, play, slide, where } from "./board.js";
import { celebrate, tell } from "./joy.js";
import { ask, keep, kept } from "./server.js";

// The address says what is shown: a game, or without one the puzzle of today, which one plays alone.
const $ = (id) => document.getElementById(id);
const id = location.pathname.split("/")[2] ?? "";
const alone = !id;
const game = `/games/${id}`;

// What is shown: the game, its newest round, and what was tried on it. The puzzle of today is a game
// with one round.
let shown = { game: null, round: null, board: null };
let moves = [];
let chosen = "red";
let replay = null; // { round, moves, at }

const hint = "Press a robot, and then a dot that it can slide to.";

function say(text) { $("said").textContent = text; }
function trouble(error) {
  $("trouble").hidden = !error;
  $("trouble").textContent = error?.message ?? "";
}

// attempt does something and shows what went wrong with it.
async function attempt(what) {
  try {
    trouble(null);
    await what();
  } catch (error) {
    trouble(error);
  }
}

// again asks for what there is now. What went wrong otherwise stays on the page till somebody acts.
let lost = false;
async function again() {
  try {
    await refresh();
    if (lost) trouble(null);
    lost = false;
  } catch (error) {
    lost = true;
    trouble(error);
  }
}

const active = () => shown.round?.status === "active" && !replay;
const start = () => (replay ? replay.round.robotPositions : shown.round && active() ? shown.round.robotPositions : shown.game.boardData.robots);
const made = () => (replay ? replay.moves.slice(0, replay.at) : moves);
const robots = () => play(shown.game.boardData.walls, start(), made());

// solved reports whether a robot that may is on the goal.
function solved() {
  const { goalColor, goalPosition } = shown.round;
  return moves.length > 0 && colors.some((c) => (goalColor === c || goalColor === "multi") && robots()[c].x === goalPosition.x && robots()[c].y === goalPosition.y);
}

function table(heads, rows) {
  const t = document.createElement("table");
  const row = (cells, kind) => {
    const tr = document.createElement("tr");
    for (const c of cells) {
      const cell = document.createElement(kind);
      if (kind === "th") cell.scope = "col";
      cell.append(c);
      tr.append(cell);
    }
    return tr;
  };
  t.append(row(heads, "th"), ...rows.map((r) => row(r, "td")));
  return t;
}

function button(text, label, press) {
  const b = document.createElement("button");
  b.type = "button";
  b.textContent = text;
  b.setAttribute("aria-label", label);
  b.addEventListener("click", press);
  return b;
}

const robotOf = (round) => (round.goalColor === "multi" ? "any robot" : round.goalColor);
const name = (color) => color[0].toUpperCase() + color.slice(1);
const counted = (n) => `${n} move${n === 1 ? "" : "s"}`;

// redraw draws the board anew: another round has another goal.
function redraw() {
  const target = replay?.round.goalIndex ?? (active() ? shown.round.goalIndex : -1);
  shown.board = draw(shown.game.boardData, target, alone);
  $("board").replaceChildren(shown.board);
  shown.board.addEventListener("pointerdown", press);
  shown.board.addEventListener("touchstart", (event) => robotAt(cellAt(shown.board, event.touches[0])) && event.preventDefault(), { passive: false }); // a finger drags robots, and scrolls the page elsewhere
  $("task").hidden = !active();
  if (active()) {
    $("icon").replaceChildren(icon(shown.round.goalColor, "goal"));
    $("goal").textContent = `Bring ${robotOf(shown.round)} to ${where(shown.round.goalPosition)}.`;
  }
  settle();
}

const letters = { up: "↑", down: "↓", left: "←", right: "→" };

// settle shows where the robots are, and what was tried.
function settle() {
  place(shown.board, shown.game.boardData.walls, robots(), active() ? chosen : "");
  $("controls").hidden = !active();
  $("replay").hidden = !replay;
  $("moves").textContent = moves.length ? `${counted(moves.length)}: ${moves.map((m) => `${m.robot} ${letters[m.direction]}`).join(", ")}` : "No moves yet.";
  $("undo").disabled = $("reset").disabled = !moves.length;
  for (const r of document.querySelectorAll("#robots input")) r.checked = r.value === chosen;
  if (active()) settleEnd();
  if (replay) {
    $("replayed").textContent = `Round ${replay.round.roundNumber}, ${replay.by}: move ${replay.at} of ${replay.moves.length}.`;
    $("back").disabled = $("first").disabled = replay.at === 0;
    $("next").disabled = replay.at === replay.moves.length;
  }
}

// settleEnd shows what one can do with the moves: submit or share them once they solve the round.
function settleEnd() {
  const is = solved();
  $("submit").hidden = alone;
  const sent = alone ? null : JSON.parse(kept(id, `sent ${shown.round.roundNumber}`) || "null");
  $("submit").querySelector("button").disabled = !is || sent && moves.length >= sent.count;
  const best = alone && least < Infinity; // of this visit, or of one before it
  $("solo").hidden = alone ? !is && !best : !sent;
  $("end").hidden = alone && !is && !best;
  const { round } = shown;
  if (sent && !(is && moves.length < sent.count)) $("result").textContent = `You submitted ${counted(sent.count)}, rank ${sent.rank} at that time. Submit a shorter way to replace it.`;
  else if (!is) $("result").textContent = alone ? (best ? `You have solved it in ${counted(least)}.` : "") : `You can submit once ${robotOf(round)} is in ${where(round.goalPosition)}.`;
  else if (!alone) $("result").textContent = `${counted(moves.length)}. Submit, or find a shorter way.`;
  else if (moves.length <= shown.shortest) $("result").textContent = `${counted(moves.length)}: there is no shorter way!`;
  else $("result").textContent = `${counted(moves.length)}. There is a way with ${shown.shortest}: try again?`;
}

function choose(robot) {
  if (chosen !== robot) say(`${name(robot)}: press a dot that it can slide to.`);
  chosen = robot;
  settle();
}

function move(direction) {
  if (!active()) return;
  const now = robots();
  const to = slide(shown.game.boardData.walls, now, chosen, direction);
  if (to.x === now[chosen].x && to.y === now[chosen].y) {
    say(`${name(chosen)} cannot move ${direction}: a wall or a robot is in its way.`);
    return;
  }
  moves.push({ robot: chosen, direction });
  settle();
  say(`${name(chosen)} is in ${where(to)}. ${solved() ? `Solved in ${counted(moves.length)}!` : ""}`);
  if (solved()) won();
}

// won celebrates a solution that is better than those before, and keeps how good it was.
let least = Infinity;
function won() {
  if (moves.length >= least) return;
  least = moves.length;
  celebrate($("board"));
  if (!alone) return;
  keep("today", shown.date, least);
  count();
}

function undo(all) {
  moves = all ? [] : moves.slice(0, -1);
  settle();
  say(all ? "All robots are back at the start." : "The last move is undone.");
}

const robotAt = ({ x, y }) => active() && colors.find((c) => robots()[c].x === x && robots()[c].y === y);

// press chooses a robot, or sends the chosen one to where it points: by a press, or by a drag of a
// robot. A drag of anything else scrolls the page.
function press(event) {
  if (!active()) return;
  event.preventDefault();
  const from = cellAt(shown.board, event);
  const robot = robotAt(from);
  if (robot) choose(robot);
  const up = (end) => {
    window.removeEventListener("pointerup", up);
    window.removeEventListener("pointercancel", up);
    if (end.type === "pointercancel") return;
    const to = cellAt(shown.board, end);
    const at = robots()[chosen];
    const [dx, dy] = [to.x - at.x, to.y - at.y];
    if (!dx && !dy || !robot && (to.x !== from.x || to.y !== from.y)) return;
    if (robot || !dx || !dy) move(Math.abs(dx) > Math.abs(dy) ? (dx > 0 ? "right" : "left") : dy > 0 ? "down" : "up");
    else say(`${name(chosen)} moves along its row and its column: tap there.`);
  };
  window.addEventListener("pointerup", up);
  window.addEventListener("pointercancel", up);
}

const pressed = { ArrowUp: "up", ArrowDown: "down", ArrowLeft: "left", ArrowRight: "right" };
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !active()) return;
  const field = event.target.closest("input, select, textarea");
  if (field && field.type !== "radio") return;
  const robot = colors.find((c) => c[0] === event.key.toLowerCase());
  if (pressed[event.key]) move(pressed[event.key]);
  else if (robot) choose(robot);
  else if (event.key === "u" || event.key === "Backspace") undo(false);
  else if (event.key === "Escape") undo(true);
  else return;
  event.preventDefault();
});

function left(ms) {
  const s = Math.max(0, Math.ceil(ms / 1000));
  const parts = [[Math.floor(s / 86400), "d"], [Math.floor(s / 3600) % 24, "h"], [Math.floor(s / 60) % 60, "min"], [s % 60, "s"]];
  const first = parts.findIndex(([n]) => n > 0);
  return first < 0 ? "0 s" : parts.slice(first, first + 2).map(([n, u]) => `${n} ${u}`).join(" ");
}

const dayOf = (date) => new Date(date).toLocaleDateString("en", { day: "numeric", month: "short", timeZone: "UTC" });

function count() {
  const { game, round } = shown;
  if (!game) return;
  if (alone) {
    $("state").textContent = `${dayOf(shown.date)} · shortest way: ${shown.shortest}${least < Infinity ? ` · your best: ${least}` : ""}`;
    return;
  }
  const won = `${game.boardData.completedGoalIndices.length} of ${game.boardData.allGoals.length} goals won`;
  if (round?.status === "active") $("state").textContent = `Round ${round.roundNumber} · ${left(round.endTime - Date.now())} left · ${won}`;
  else if (game.complete) $("state").textContent = `The game is complete. ${won}.`;
  else $("state").textContent = `${round ? `Round ${round.roundNumber} is ${round.status}.` : "No round yet."} ${kept(id, "host") ? "You are the host: start the next." : "The host starts the next."} ${won}.`;
}

function watch(round, by, list) {
  replay = { round, by, moves: list, at: 0 };
  redraw();
  $("next").focus();
}

// opened is where the shown page of the leaderboard begins: at the first player without a cursor.
let opened = { round: 0, cursor: "" };

async function showLeaderboard(round) {
  const number = round.roundNumber;
  if (opened.round !== number) opened = { round: number, cursor: "" };
  const { items, nextCursor } = await ask("GET", `${game}/rounds/${number}/leaderboard?limit=100${opened.cursor && `&cursor=${opened.cursor}`}`);
  const rows = items.map((s) => [s.rank, s.playerName, s.moveCount, s.moves ? button("Replay", `Replay what ${s.playerName} has found`, () => watch(round, s.playerName, s.moves)) : ""]);
  $("leaderboard").replaceChildren(items.length ? table(["Rank", "Player", "Moves", "Solution"], rows) : "No solution yet.");
  const turn = (text, cursor) => $("leaderboard").append(button(text, text, () => attempt(() => {
    opened = { round: number, cursor };
    return showLeaderboard(round);
  })));
  if (opened.cursor) turn("First players", "");
  if (nextCursor) turn("Next players", nextCursor);
  if (round.status === "active" || !items.length) return;
  const optimal = await ask("GET", `${game}/rounds/${round.roundNumber}/optimal`);
  const p = document.createElement("p");
  if (optimal.state === "solved") p.append(`The shortest solution has ${counted(optimal.moveCount)}. `);
  if (optimal.moves) p.append(button("Replay it", "Replay it: a shortest solution", () => watch(round, "a shortest solution", optimal.moves)));
  $("leaderboard").append(p);
}

function showRounds({ items, next }) {
  const rows = items.map((r) => [
    r.roundNumber, r.status, r.winner ? `${r.winner.playerName}, ${counted(r.winner.moveCount)}` : "",
    r.winner ? button("Replay", `Replay round ${r.roundNumber}`, () => watch(r, r.winner.playerName, r.winner.moves)) : "",
  ]);
  $("rounds").replaceChildren(items.length ? table(["Round", "Status", "Winner", "Replay"], rows) : "None yet.");
  if (!next) return;
  $("rounds").append(button("Earlier rounds", "Earlier rounds", () => attempt(async () => {
    const before = await ask("GET", `${game}/rounds?limit=100&from=${next}`);
    showRounds({ items: [...items, ...before.items], next: before.next });
  })));
}

let newest = "";

// refresh asks for what there is now. Moves that were tried stay as long as the round does.
async function refresh() {
  const [now, rounds] = await Promise.all([ask("GET", game), ask("GET", `${game}/rounds`)]);
  const round = rounds.items[0] ?? null;
  const state = JSON.stringify([now.boardData, round]);
  shown = { ...shown, game: now, round };
  $("name").textContent = now.gameName || "A game without a name";
  document.title = `${now.gameName || "Game"} – Async Ricochet Robots`;
  $("name").hidden = $("table").hidden = $("game").hidden = false;
  if ($("start").elements.duration.options.length === 0) offer($("start").elements.duration, now.defaultRoundDurationMs);
  $("host").hidden = !kept(id, "host");
  $("start").hidden = !kept(id, "host") || round?.status === "active" || now.complete;
  $("extend").hidden = $("close").hidden = $("skip").hidden = round?.status !== "active";
  if (state !== newest) {
    if (newest && (JSON.parse(newest)[1]?.roundNumber !== round?.roundNumber || round?.status !== "active")) {
      trouble(null); // it was about the round before
      say(round?.status === "active" ? hint : "");
      [moves, least] = [[], Infinity];
    }
    if (round?.status === "active" && round.goalColor !== "multi" && !moves.length) chosen = round.goalColor;
    if (!newest && round?.status === "active") say(hint);
    newest = state;
    if (!replay) redraw();
    showRounds(rounds);
  }
  count();
  if (round) await showLeaderboard(round);
  else $("leaderboard").textContent = "No solution yet.";
}

// today shows the puzzle of the day.
async function today() {
  const { date, boardData, goalIndex, goalColor, goalPosition, moveCount } = await ask("GET", "/today");
  shown = { ...shown, date, shortest: moveCount, game: { boardData }, round: { status: "active", robotPositions: boardData.robots, goalIndex, goalColor, goalPosition } };
  least = Number(kept("today", date)) || Infinity;
  if (goalColor !== "multi") chosen = goalColor;
  say(hint);
  count();
  redraw();
}

// lengths are how long rounds can be.
const lengths = [[300000, "5 minutes"], [3600000, "an hour"], [86400000, "a day"], [604800000, "a week"]];

// offer fills a field with lengths of rounds, of which one is chosen.
function offer(select, ms) {
  const all = lengths.some(([n]) => n === ms) ? lengths : [[ms, left(ms)], ...lengths];
  select.replaceChildren(...all.map(([n, text]) => new Option(text, n, n === ms, n === ms)));
}

// sure asks before something that cannot be undone.
function sure(title, text, yes, act) {
  $("sure-title").textContent = title;
  $("sure-text").textContent = text;
  $("yes").textContent = yes;
  $("sure").returnValue = "";
  $("sure").showModal();
  $("sure").onclose = () => $("sure").returnValue === "yes" && attempt(act);
}

function onSubmit(form, what) {
  $(form).addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(() => what(new FormData(event.target)));
  });
}

onSubmit("create", async (form) => {
  const body = { gameName: form.get("gameName"), defaultRoundDurationMs: Number(form.get("duration")) };
  if (form.get("seed")) body.seed = Number(form.get("seed"));
  const { gameId, hostKey } = await ask("POST", "/games", body);
  keep(gameId, "host", hostKey);
  location.assign(`/play/${gameId}`);
});

onSubmit("submit", async (form) => {
  const name = form.get("playerName").trim();
  const body = { playerName: name, moves };
  const secret = kept(id, `player ${name.toLowerCase()}`);
  if (secret) body.playerSecret = secret;
  const answer = await ask("POST", `${game}/rounds/${shown.round.roundNumber}/solutions`, body);
  if (answer.playerSecret) keep(id, `player ${name.toLowerCase()}`, answer.playerSecret);
  keep(id, "name", name);
  keep(id, `sent ${shown.round.roundNumber}`, JSON.stringify({ count: answer.moveCount, rank: answer.rank }));
  say(`Accepted: ${counted(answer.moveCount)}, rank ${answer.rank}.`);
  await refresh();
  settle();
});

const asHost = (path, body) => ask("POST", `${game}/rounds${path}`, body, kept(id, "host")).then(refresh);
onSubmit("start", async (form) => {
  replay = null;
  await asHost("", { durationMs: Number(form.get("duration")) });
  scrollTo({ top: 0 });
});
onSubmit("extend", (form) => asHost(`/${shown.round.roundNumber}/extend`, { extendByMs: Number(form.get("duration")) }));
const close = (body) => () => asHost(`/${shown.round.roundNumber}/close`, body);
$("close").addEventListener("click", () => sure("Close the round?", "No solution is taken after that. The best solution so far wins the goal and moves the robots.", "Close the round", close({})));
$("skip").addEventListener("click", () => sure("Skip the goal?", "The round ends, and its solutions win nothing. The goal stays in the game.", "Skip the goal", close({ skipGoal: true })));
$("delete").addEventListener("click", () => sure("Delete the game?", "Its rounds, names and solutions go with it. This cannot be undone.", "Delete the game", async () => {
  await ask("DELETE", game, null, kept(id, "host"));
  location.assign("/play");
}));
// share tells others, and says beside the button what became of it.
async function share(button, text) {
  button.parentElement.querySelector(".told").textContent = await tell(text.trim(), location.href);
}
$("send").addEventListener("click", () => share($("send"), `Play Ricochet Robots with me: ${shown.game.gameName}`));
$("tell").addEventListener("click", () => {
  if (!alone) {
    const { count } = JSON.parse(kept(id, `sent ${shown.round.roundNumber}`));
    return share($("tell"), `Ricochet Robots ${shown.game.gameName}: ${counted(count)} in round ${shown.round.roundNumber}. Can you do better?`);
  }
  const n = solved() ? moves.length : least;
  const shortest = n <= shown.shortest ? "the shortest way" : `the shortest way has ${shown.shortest}`;
  return share($("tell"), `Ricochet Robots, ${dayOf(shown.date)}: ${counted(n)} (${shortest})`);
});
$("retry").addEventListener("click", () => undo(true));
$("undo").addEventListener("click", () => undo(false));
$("reset").addEventListener("click", () => undo(true));
for (const b of document.querySelectorAll("[data-direction]")) b.addEventListener("click", () => move(b.dataset.direction));
for (const r of document.querySelectorAll("#robots input")) r.addEventListener("change", () => choose(r.value));

function step(to) {
  replay.at = Math.max(0, Math.min(replay.moves.length, to));
  settle();
}
$("first").addEventListener("click", () => step(0));
$("back").addEventListener("click", () => step(replay.at - 1));
$("next").addEventListener("click", () => step(replay.at + 1));
$("leave").addEventListener("click", () => { replay = null; redraw(); });

for (const label of document.querySelectorAll("#robots label")) label.querySelector("span").append(icon(label.querySelector("input").value, "robot"));
offer($("create").elements.duration, 86400000);
offer($("extend").elements.duration, 3600000);
if (alone) {
  $("name").textContent = "Today’s puzzle";
  $("name").hidden = $("rules").hidden = $("new").hidden = false;
  attempt(today).then(() => { $("table").hidden = false; }); // all at once, so that nothing moves
} else {
  $("share").value = location.href;
  $("submit").elements.playerName.value = kept(id, "name");
  attempt(refresh);
  setInterval(count, 1000);
  setInterval(() => document.visibilityState === "visible" && again(), 5000);
}
