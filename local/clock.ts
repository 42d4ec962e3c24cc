/** The clock of functions and jobs: real time plus an offset that `POST /local/clock` sets, so that it keeps ticking. */
import type { Clock } from "../shared/clock.ts";

export interface MovableClock {
  now: Clock;
  /** Milliseconds ahead of real time. */
  offsetMs(): number;
  /** @param to the instant that it shall be now; real time again when null. */
  move(to: Date | null): void;
}

/** @param onMove is told the new offset in milliseconds. */
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
