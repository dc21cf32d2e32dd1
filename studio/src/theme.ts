// Dark or light: as it was chosen last, else as the system is.

export function preferredLight(): boolean {
  const kept = localStorage.getItem("theme");
  return kept ? kept === "light" : window.matchMedia("(prefers-color-scheme: light)").matches;
}

export function isLight(): boolean {
  return document.documentElement.dataset["theme"] === "light";
}

/** Makes the page dark or light, and keeps that for the next visit. */
export function putLight(light: boolean): void {
  document.documentElement.dataset["theme"] = light ? "light" : "dark";
  localStorage.setItem("theme", light ? "light" : "dark");
}
