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
const letter = (color, x, y) => svg("text", { x, y, class: `letter on-${color}` }, color === "multi" ? "★" : color[0].toUpperCase());

// draw returns a board without robots. target is the index of the goal of the round.
export function draw(board, target) {
  const all = svg("svg", { viewBox: `-1 -1 ${size * unit + 2} ${size * unit + 2}`, class: "board", role: "img" });
  all.append(svg("rect", { width: size * unit, height: size * unit, class: "field" }));
  for (let i = 1; i < size; i++) all.append(line(i, 0, i, size, "grid"), line(0, i, size, i, "grid"));
  all.append(svg("rect", { x: 7 * unit, y: 7 * unit, width: 2 * unit, height: 2 * unit, class: "middle" }));
  board.allGoals.forEach(({ position: { x, y }, color }, i) => {
    const kind = `${color} ${i === target ? "target" : board.completedGoalIndices.includes(i) ? "won" : "goal"}`;
    const [cx, cy, r] = [x * unit + 5, y * unit + 5, i === target ? 4.6 : 3.4];
    all.append(svg("path", { d: `M${cx} ${cy - r}L${cx + r} ${cy}L${cx} ${cy + r}L${cx - r} ${cy}Z`, class: kind }));
    if (i === target) all.append(letter(color, cx, cy));
  });
  board.walls.horizontal.forEach((row, y) => row.forEach((x) => all.append(line(x, y + 1, x + 1, y + 1, "wall"))));
  board.walls.vertical.forEach((column, x) => column.forEach((y) => all.append(line(x + 1, y, x + 1, y + 1, "wall"))));
  all.append(svg("rect", { width: size * unit, height: size * unit, class: "edge" }));
  for (const color of colors) {
    const disc = svg("circle", { r: 4, class: color });
    all.append(svg("g", { class: "robot", "data-robot": color }, disc, letter(color, 0, 0)));
  }
  return all;
}

// place puts the robots where they are.
export function place(drawn, robots, chosen) {
  for (const g of drawn.querySelectorAll(".robot")) {
    const { x, y } = robots[g.dataset.robot];
    g.style.transform = `translate(${x * unit + 5}px, ${y * unit + 5}px)`;
    g.classList.toggle("chosen", g.dataset.robot === chosen);
  }
  drawn.setAttribute("aria-label", "Board. " + colors.map((c) => `${c} robot: ${where(robots[c])}`).join("; "));
}

// where says a cell as people count.
export const where = ({ x, y }) => `column ${x + 1}, row ${y + 1}`;

// cellAt returns the cell that an event points at.
export function cellAt(drawn, event) {
  const p = new DOMPoint(event.clientX, event.clientY).matrixTransform(drawn.getScreenCTM().inverse());
  return { x: Math.floor(p.x / unit), y: Math.floor(p.y / unit) };
}
