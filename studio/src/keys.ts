// The keys that stop the robot, wherever the focus is.

/** Calls `stop` when Escape is pressed, or Space where no word is being written. */
export function onStopKey(stop: () => void): void {
  const hear = (event: KeyboardEvent) => {
    const typing = event.target instanceof HTMLInputElement && event.target.type === "text"; // no number has a space
    if (event.key !== "Escape" && (event.key !== " " || typing)) return;
    event.preventDefault(); // of both: some browsers press the button that has the focus when the key comes up
    if (event.type === "keydown") stop();
  };
  for (const type of ["keydown", "keyup"] as const) window.addEventListener(type, hear, { capture: true });
}
