// Where the stability check would reject a value, as computed by the server, on the track of a slider.

import { MOST } from "./scale";
import { MOST_VALUES, type Zone } from "./wire";

// The number of judged values, evenly spread over the slider.
export const PLACES = MOST_VALUES;
const COLOURS = ["var(--track)", "var(--thin)", "var(--stop)"];

/** The slider's step at each place. */
export function stepsOf(): number[] {
  return Array.from({ length: PLACES }, (_, i) => Math.round((MOST * i) / (PLACES - 1)));
}

/** The zone of a slider step: the worse of the two values around it. */
export function zoneAt(zones: Zone[], step: number): Zone | null {
  const place = (step * (PLACES - 1)) / MOST;
  const near = zones.filter((zone) => zone.first <= Math.ceil(place) && zone.last >= Math.floor(place));
  return near.reduce<Zone | null>((worst, zone) => (worst === null || zone.level > worst.level ? zone : worst), null);
}

/** The allowed step nearest to the requested one, coming from the present step. From red, every step is allowed. */
export function allowedStep(zones: Zone[], from: number, wanted: number): number {
  if (zoneAt(zones, from)?.level === 2) return wanted;
  const way = wanted > from ? 1 : -1;
  let at = from;
  while (at !== wanted && (zoneAt(zones, at + way)?.level ?? 0) < 2) at += way;
  return at;
}

/** The track of a slider as a CSS background: amber where the gain margin is small, red where a value is rejected. */
export function trackOf(zones: Zone[]): string {
  const share = (place: number) => `${((100 * Math.min(Math.max(place, 0), PLACES - 1)) / (PLACES - 1)).toFixed(1)}%`;
  const stops = zones.map((zone) => {
    const colour = COLOURS[zone.level] ?? COLOURS[0]!;
    return `${colour} ${share(zone.first - 0.5)} ${share(zone.last + 0.5)}`;
  });
  return stops.length ? `linear-gradient(90deg, ${stops.join(", ")})` : "";
}
