// The keys that stop the robot, wherever the focus is.

/** Calls `stop` when Escape is pressed, or Space outside text fields. Escape also closes the dialog on top. */
export function onStopKey(stop: () => void): void {
  const hear = (event: KeyboardEvent) => {
    const typing = event.target instanceof HTMLInputElement && event.target.type === "text"; // no number has a space
    if (event.key !== "Escape" && (event.key !== " " || typing)) return;
    event.preventDefault(); // of both: some browsers press the button that has the focus when the key comes up
    if (event.type !== "keydown") return;
    stop();
    if (event.key === "Escape" && !event.repeat) closeDialog();
  };
  for (const type of ["keydown", "keyup"] as const) window.addEventListener(type, hear, { capture: true });
}

/** Closes the newest open dialog: the default action, which would do it, is prevented. */
function closeDialog(): void {
  [...document.querySelectorAll("dialog")].filter((box) => box.open).pop()?.close();
}
