import { cellAt, colors, draw, place, play, slide, where } from "./board.js";
import { ask, keep, kept } from "./server.js";

const $ = (id) => document.getElementById(id);
const id = location.pathname.split("/")[2] ?? "";
const game = `/games/${id}`;

// What is shown: the game, its newest round, and what was tried on it.
let shown = { game: null, round: null, board: null };
let moves = [];
let chosen = "red";
let replay = null; // { round, moves, at }

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

const goalOf = (round) => `${round.goalColor === "multi" ? "any robot" : `the ${round.goalColor} robot`} to ${where(round.goalPosition)}`;
const counted = (n) => `${n} move${n === 1 ? "" : "s"}`;

// redraw draws the board anew: another round has another goal.
function redraw() {
  const target = replay?.round.goalIndex ?? (active() ? shown.round.goalIndex : -1);
  shown.board = draw(shown.game.boardData, target);
  $("board").replaceChildren(shown.board);
  shown.board.addEventListener("pointerdown", press);
  settle();
}

// settle shows where the robots are, and what was tried.
function settle() {
  place(shown.board, robots(), active() ? chosen : "");
  $("controls").hidden = !active();
  $("replay").hidden = !replay;
  $("moves").textContent = moves.length ? `${counted(moves.length)}: ${moves.map((m) => `${m.robot} ${m.direction}`).join(", ")}` : "No moves yet.";
  $("undo").disabled = $("reset").disabled = !moves.length;
  for (const r of document.querySelectorAll("#robots input")) r.checked = r.value === chosen;
  if (replay) {
    $("replayed").textContent = `Round ${replay.round.roundNumber}, ${replay.by}: move ${replay.at} of ${replay.moves.length}.`;
    $("back").disabled = $("first").disabled = replay.at === 0;
    $("next").disabled = replay.at === replay.moves.length;
  }
}

function choose(robot) {
  chosen = robot;
  settle();
}

function move(direction) {
  if (!active()) return;
  const now = robots();
  const to = slide(shown.game.boardData.walls, now, chosen, direction);
  if (to.x === now[chosen].x && to.y === now[chosen].y) {
    say(`The ${chosen} robot cannot move ${direction}.`);
    return;
  }
  moves.push({ robot: chosen, direction });
  settle();
  const { goalColor, goalPosition } = shown.round;
  const there = colors.some((c) => (goalColor === c || goalColor === "multi") && robots()[c].x === goalPosition.x && robots()[c].y === goalPosition.y);
  say(`The ${chosen} robot is at ${where(to)}. ${there ? `Solved in ${counted(moves.length)}: submit it, or look for less.` : ""}`);
}

function undo(all) {
  moves = all ? [] : moves.slice(0, -1);
  settle();
  say(all ? "All robots are back at the start." : "The last move is undone.");
}

// press chooses a robot, or sends the chosen one to where it points: by a press, or by a drag.
function press(event) {
  if (!active()) return;
  event.preventDefault();
  const from = cellAt(shown.board, event);
  const robot = colors.find((c) => robots()[c].x === from.x && robots()[c].y === from.y);
  if (robot) choose(robot);
  const up = (end) => {
    window.removeEventListener("pointerup", up);
    window.removeEventListener("pointercancel", up);
    if (end.type === "pointercancel") return;
    const to = cellAt(shown.board, end);
    const at = robots()[chosen];
    const [dx, dy] = [to.x - at.x, to.y - at.y];
    if (!dx && !dy) return;
    if (robot || !dx || !dy) move(Math.abs(dx) > Math.abs(dy) ? (dx > 0 ? "right" : "left") : dy > 0 ? "down" : "up");
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

function count() {
  const { game, round } = shown;
  if (!game) return;
  const won = `${game.boardData.completedGoalIndices.length} of ${game.boardData.allGoals.length} goals are won.`;
  if (round?.status === "active") $("state").textContent = `Round ${round.roundNumber}: bring ${goalOf(round)}. ${left(round.endTime - Date.now())} left. ${won}`;
  else if (game.complete) $("state").textContent = `The game is complete. ${won}`;
  else $("state").textContent = `${round ? `Round ${round.roundNumber} is ${round.status}.` : "No round yet."} The host starts the next. ${won}`;
}

function watch(round, by, list) {
  replay = { round, by, moves: list, at: 0 };
  redraw();
  $("next").focus();
}

async function showLeaderboard(round) {
  const { items } = await ask("GET", `${game}/rounds/${round.roundNumber}/leaderboard`);
  const rows = items.map((s) => [s.rank, s.playerName, s.moveCount, s.moves ? button("Replay", `Replay what ${s.playerName} has found`, () => watch(round, s.playerName, s.moves)) : ""]);
  $("leaderboard").replaceChildren(items.length ? table(["Rank", "Player", "Moves", "Solution"], rows) : "Nobody has solved it yet.");
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
  $("game").hidden = false;
  $("host").hidden = !kept(id, "host");
  $("start").hidden = round?.status === "active" || now.complete;
  $("extend").hidden = $("close").hidden = $("skip").hidden = round?.status !== "active";
  if (state !== newest) {
    if (!newest || JSON.parse(newest)[1]?.roundNumber !== round?.roundNumber || round?.status !== "active") moves = [];
    newest = state;
    if (!replay) redraw();
    showRounds(rounds);
  }
  count();
  if (round) await showLeaderboard(round);
  else $("leaderboard").textContent = "Nobody has solved it yet.";
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
  say(`Accepted: ${counted(answer.moveCount)}, rank ${answer.rank}.`);
  await refresh();
});

const asHost = (path, body) => ask("POST", `${game}/rounds${path}`, body, kept(id, "host")).then(refresh);
onSubmit("start", (form) => { replay = null; return asHost("", { durationMs: form.get("minutes") * 60000 }); });
onSubmit("extend", (form) => asHost(`/${shown.round.roundNumber}/extend`, { extendByMs: form.get("minutes") * 60000 }));
$("close").addEventListener("click", () => attempt(() => asHost(`/${shown.round.roundNumber}/close`, {})));
$("skip").addEventListener("click", () => attempt(() => asHost(`/${shown.round.roundNumber}/close`, { skipGoal: true })));
$("delete").addEventListener("click", () => attempt(async () => {
  await ask("DELETE", game, null, kept(id, "host"));
  location.assign("/play");
}));
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

if (id) {
  $("share").value = location.href;
  $("submit").elements.playerName.value = kept(id, "name");
  attempt(refresh);
  setInterval(count, 1000);
  setInterval(() => document.visibilityState === "visible" && again(), 5000);
} else {
  $("new").hidden = false;
}
