// Dark or light: as last chosen, otherwise as the system setting.

export function preferredLight(): boolean {
  const kept = stored();
  return kept ? kept === "light" : window.matchMedia("(prefers-color-scheme: light)").matches;
}

export function isLight(): boolean {
  return document.documentElement.dataset["theme"] === "light";
}

/** Switches to dark or light, and stores the choice; returns whether it could be stored. */
export function putLight(light: boolean): boolean {
  document.documentElement.dataset["theme"] = light ? "light" : "dark";
  try {
    localStorage.setItem("theme", light ? "light" : "dark");
    return true;
  } catch {
    return false; // a browser that lets no page keep anything
  }
}

function stored(): string | null {
  try {
    return localStorage.getItem("theme");
  } catch {
    return null;
  }
}
