// Buttons that copy a block of code, one that pauses the board on the first page, and search on a site that no server serves.

if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false; // it would fetch pages, which browsers refuse

function button(text, act) {
  const made = document.createElement("button");
  made.className = "small-button";
  made.textContent = text;
  made.addEventListener("click", () => act(made));
  return made;
}

function copyButton(block) {
  return button("Copy", async (made) => {
    const written = navigator.clipboard.writeText(block.querySelector("pre").textContent.trimEnd());
    made.textContent = await written.then(
      () => "Copied",
      () => "Not allowed",
    );
    setTimeout(() => (made.textContent = "Copy"), 2000);
  });
}

if (navigator.clipboard) {
  const blocks = document.querySelectorAll("[class*=highlight-]:not(.highlight-text, .highlight-output) > .highlight");
  for (const block of blocks) block.append(copyButton(block));
}

// A canvas shows the first picture of a moving one, at once to readers who want no motion.
for (const picture of document.querySelectorAll('img[src*="turns"]')) {
  const still = document.createElement("canvas");
  const pauser = button("Pause", () => {
    const moves = picture.isConnected;
    Object.assign(still, {
      width: picture.naturalWidth,
      height: picture.naturalHeight,
      role: "img",
      ariaLabel: picture.alt,
    });
    still.getContext("2d").drawImage(picture, 0, 0);
    (moves ? picture : still).replaceWith(moves ? still : picture);
    pauser.textContent = moves ? "Play" : "Pause";
  });
  for (const part of [still, pauser]) part.classList.add(...picture.classList);
  picture.after(pauser);
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) picture.decode().then(() => pauser.click());
}
