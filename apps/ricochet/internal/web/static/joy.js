// What a page does when somebody wins, and how they tell others.

const confetti = ["var(--red)", "var(--yellow)", "var(--green)", "var(--blue)"];

// celebrate lets confetti rise over an element, unless its reader wants no movement.
export function celebrate(over) {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const { width, height } = over.getBoundingClientRect();
  for (let i = 0; i < 60; i++) {
    const piece = document.createElement("i");
    piece.className = "confetti";
    piece.style.background = confetti[i % confetti.length];
    over.append(piece);
    const [x, up] = [(Math.random() - 0.5) * width, height * (0.3 + Math.random() * 0.5)];
    const at = (part, y, turn) => `translate(${x * part}px, ${y}px) rotate(${turn}deg)`;
    piece.animate([
      { transform: at(0, 0, 0), opacity: 1 },
      { transform: at(0.7, -up, 270 * (i % 3)), opacity: 1, easing: "ease-in", offset: 0.45 },
      { transform: at(1, height * 0.2, 720), opacity: 0 },
    ], { duration: 1400 + Math.random() * 900, easing: "ease-out" }).finished.then(() => piece.remove());
  }
}

// tell shares a text by the means of the device, or else copies it. It returns what it did.
export async function tell(text, url) {
  if (navigator.share && matchMedia("(pointer: coarse)").matches) {
    try {
      await navigator.share({ text, url });
      return "Shared.";
    } catch (cause) {
      if (cause.name === "AbortError") return "";
    }
  }
  try {
    await navigator.clipboard.writeText(`${text}\n${url}`.trim());
    return "Copied: paste it where your friends are.";
  } catch {
    return `The browser does not let this page copy. Send this: ${text} ${url}`;
  }
}
