// What the server is asked, and what the browser keeps.

// ask sends a request and returns what it is answered. An error has the detail of the problem.
export async function ask(method, path, body, hostKey) {
  const headers = { ...(body && { "Content-Type": "application/json" }), ...(hostKey && { "X-Host-Key": hostKey }) };
  let response;
  try {
    response = await fetch("/api/v1" + path, { method, headers, body: body && JSON.stringify(body) });
  } catch {
    throw new Error("The server cannot be reached; it is tried again.");
  }
  const answer = response.status === 204 ? null : await response.json();
  if (response.ok) return answer;
  const rules = (answer.errors ?? []).map((e) => `${e.location}: ${e.message}`);
  const error = new Error([answer.detail, ...rules].join(" "));
  error.code = answer.code;
  throw error;
}

// Keys are kept for each game: that of the host, and the secrets of names.
const key = (game, what) => `ricochet ${game} ${what}`;
export const keep = (game, what, value) => localStorage.setItem(key(game, what), value);
export const kept = (game, what) => localStorage.getItem(key(game, what)) ?? "";
