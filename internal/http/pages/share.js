// A link is sent by what the device sends things with, or copied. A button names the link and,
// where it is copied, what the button says then. Where a page may copy nothing, the button stays
// hidden: the link is there to be copied by hand.

const told = document.getElementById("told");

for (const button of document.querySelectorAll("[data-share]")) {
  if (!navigator.share) continue;
  button.hidden = false;
  button.addEventListener("click", () => {
    const { share, title } = button.dataset, url = new URL(share, location).href;
    navigator.share(title ? { title, text: title, url } : { url }).catch(() => { /* the person has changed their mind */ });
  });
}

for (const button of document.querySelectorAll("[data-copy]")) {
  if (!navigator.clipboard) continue;
  button.hidden = false;
  button.addEventListener("click", async () => {
    const { copy, copied, failed } = button.dataset;
    button.textContent = await navigator.clipboard.writeText(new URL(copy, location).href).then(() => copied, () => failed);
    if (told) told.textContent = button.textContent;
  });
}
