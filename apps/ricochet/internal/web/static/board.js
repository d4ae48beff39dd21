// The board as it is played on: where robots stop, and how it is drawn.

export const colors = ["red", "yellow", "green", "blue"];
const directions = { up: [0, -1], down: [0, 1], left: [-1, 0], right: [1, 0] };

const size = 16;
const blocked = (walls, { x, y }, [dx, dy]) =>
  dy > 0 ? walls.horizontal[y].includes(x) : dy < 0 ? walls.horizontal[y - 1].includes(x) : dx > 0 ? walls.vertical[x].includes(y) : walls.vertical[x - 1].includes(y);

// slide returns where a robot stops: before the edge, a wall, or another robot.
export function slide(walls, robots, robot, direction) {
  const step = directions[direction];
  let at = robots[robot];
  for (;;) {
    const to = { x: at.x + step[0], y: at.y + step[1] };
    if (to.x < 0 || to.y < 0 || to.x >= size || to.y >= size || blocked(walls, at, step) || colors.some((c) => robots[c].x === to.x && robots[c].y === to.y)) return at;
    at = to;
  }
}

// play makes moves and returns where the robots are then.
export function play(walls, robots, moves) {
  return moves.reduce((all, m) => ({ ...all, [m.robot]: slide(walls, all, m.robot, m.direction) }), robots);
}

const unit = 10;
const svg = (name, attributes, ...children) => {
  const e = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  e.append(...children);
  return e;
};
const line = (x1, y1, x2, y2, kind) => svg("line", { x1: x1 * unit, y1: y1 * unit, x2: x2 * unit, y2: y2 * unit, class: kind });

// Each color has a shape of its own, around (0,0) and about 4 wide to each side. Robots are filled
// and have a letter, goals are empty.
const shapes = {
  red: "M-3.9 0A3.9 3.9 0 1 1 3.9 0A3.9 3.9 0 1 1-3.9 0Z",
  yellow: "M0-4.3L4.3 3.4H-4.3Z",
  green: "M-3.5-3.5H3.5V3.5H-3.5Z",
  blue: "M0-4.5L4.5 0L0 4.5L-4.5 0Z",
  multi: "M0-4.4L1.2-1.4L4.3-1.2L1.9.8L2.7 3.9L0 2.2L-2.7 3.9L-1.9.8L-4.3-1.2L-1.2-1.4Z",
};

const robotOf = (color) => [svg("path", { d: shapes[color], class: `body ${color}` }), svg("text", { y: color === "yellow" ? 1.1 : 0, class: `letter on-${color}` }, color[0].toUpperCase())];
const goalOf = (color, kind, at = "") => svg("g", { class: `${kind} ${color}`, transform: at }, svg("path", { d: shapes[color] }), svg("path", { d: shapes[color], transform: "scale(.35)" }));

// icon returns a robot or a goal as it is on the board, to stand in a text.
export const icon = (color, kind) => svg("svg", { viewBox: "-5.5 -5.5 11 11", class: "icon", "aria-hidden": true }, ...(kind === "robot" ? robotOf(color) : [goalOf(color, "target")]));

// draw returns a board without robots. target is the index of the goal of the round; alone draws no
// other goal.
export function draw(board, target, alone) {
  const all = svg("svg", { viewBox: `-8 -8 ${size * unit + 9} ${size * unit + 9}`, class: "board", role: "img" });
  all.append(svg("rect", { width: size * unit, height: size * unit, class: "field" }));
  const goal = board.allGoals[target];
  for (let i = 0; i < size; i++) {
    const axis = (x, y, here) => svg("text", { x, y, class: `axis${here ? " here" : ""}` }, String(i + 1));
    all.append(axis(i * unit + 5, -4.2, goal?.position.x === i), axis(-4.2, i * unit + 5, goal?.position.y === i));
    if (i) all.append(line(i, 0, i, size, "grid"), line(0, i, size, i, "grid"));
  }
  all.append(svg("rect", { x: 7 * unit, y: 7 * unit, width: 2 * unit, height: 2 * unit, class: "middle" }));
  board.allGoals.forEach(({ position: { x, y }, color }, i) => {
    if (alone && i !== target) return;
    if (i === target) all.append(svg("rect", { x: x * unit, y: y * unit, width: unit, height: unit, class: `cell ${color}` }));
    all.append(goalOf(color, i === target ? "target" : board.completedGoalIndices.includes(i) ? "won" : "goal", `translate(${x * unit + 5} ${y * unit + 5})`));
  });
  board.walls.horizontal.forEach((row, y) => row.forEach((x) => all.append(line(x, y + 1, x + 1, y + 1, "wall"))));
  board.walls.vertical.forEach((column, x) => column.forEach((y) => all.append(line(x + 1, y, x + 1, y + 1, "wall"))));
  all.append(svg("rect", { width: size * unit, height: size * unit, class: "edge" }), svg("g", { class: "ways" }));
  for (const color of colors) all.append(svg("g", { class: "robot", "data-robot": color }, ...robotOf(color)));
  return all;
}

// place puts the robots where they are, and shows where the chosen one can slide to.
export function place(drawn, walls, robots, chosen) {
  for (const g of drawn.querySelectorAll(".robot")) {
    const { x, y } = robots[g.dataset.robot];
    g.style.transform = `translate(${x * unit + 5}px, ${y * unit + 5}px)`;
    g.classList.toggle("chosen", g.dataset.robot === chosen);
  }
  const ways = chosen ? Object.keys(directions).map((d) => slide(walls, robots, chosen, d)).filter((to) => to !== robots[chosen]) : [];
  drawn.querySelector(".ways").replaceChildren(...ways.map(({ x, y }) => svg("circle", { cx: x * unit + 5, cy: y * unit + 5, r: 1.3, class: chosen })));
  drawn.setAttribute("aria-label", "Board. " + colors.map((c) => `${c} robot: ${where(robots[c])}`).join("; "));
}

// where says a cell as people count.
export const where = ({ x, y }) => `column ${x + 1}, row ${y + 1}`;

// cellAt returns the cell that an event points at.
export function cellAt(drawn, event) {
  const p = new DOMPoint(event.clientX, event.clientY).matrixTransform(drawn.getScreenCTM().inverse());
  return { x: Math.floor(p.x / unit), y: Math.floor(p.y / unit) };
}
