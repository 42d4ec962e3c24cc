/** The clock of functions and jobs: real time plus an offset set by `POST …/clock`. */
import type { Clock } from "../shared/clock.ts";

export interface MovableClock {
  now: Clock;
  /** Milliseconds ahead of real time. */
  offsetMs(): number;
  /** @param to the new current instant; null for real time. */
  move(to: Date | null): void;
}

/** @param onMove receives the new offset in milliseconds. */
export function movableClock(onMove: (offsetMs: number) => void): MovableClock {
  let offset = 0;
  return {
    now: () => new Date(Date.now() + offset),
    offsetMs: () => offset,
    move(to) {
      offset = to ? to.getTime() - Date.now() : 0;
      onMove(offset);
    },
  };
}
