// What the server is asked, and what the browser keeps.

// ask sends a request and returns what it is answered. An error says it in the player's words.
export async function ask(method, path, body, hostKey) {
  const headers = { ...(body && { "Content-Type": "application/json" }), ...(hostKey && { "X-Host-Key": hostKey }) };
  let response;
  try {
    response = await fetch("/api/v1" + path, { method, headers, body: body && JSON.stringify(body) });
  } catch {
    throw new Error("The server cannot be reached. This page tries again.");
  }
  const answer = response.status === 204 ? null : await response.json();
  if (response.ok) return answer;
  const error = new Error((answer.errors ?? []).map(rule).join(" ") || sentence(answer.detail));
  error.code = answer.code;
  throw error;
}

const sentence = (text) => text[0].toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");

// What fields of requests are called on the page.
const names = { playerName: "Your name", gameName: "Name of the game", seed: "Board number", durationMs: "Length of the round", defaultRoundDurationMs: "Length of rounds", extendByMs: "More time" };

// rule says a broken rule: which move of a solution it is about, or which field.
function rule({ location, message }) {
  const move = /moves\[(\d+)\]/.exec(location);
  if (move) return sentence(`move ${+move[1] + 1}: ${message}`);
  const field = names[location.replace("body.", "")];
  return sentence(field ? `${field}: ${message}` : message);
}

// Keys are kept for each game: that of the host, and the secrets of names.
const key = (game, what) => `ricochet ${game} ${what}`;
export const keep = (game, what, value) => localStorage.setItem(key(game, what), value);
export const kept = (game, what) => localStorage.getItem(key(game, what)) ?? "";
