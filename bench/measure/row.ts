/** A line of the result: a figure, its baseline, and whether it meets its target. */
import type { Spread } from "./stats.ts";

export interface Row {
  /** Unique, because targets refer to rows by name. */
  name: string;
  /** The baseline; absent for a figure without one. */
  against?: string;
  /** The figure that the target applies to: a ratio within one run, milliseconds, kB, lines or a count. */
  value: Spread;
  unit: "times" | "ms" | "kB" | "lines" | "";
  /** The figure divided by the machine's speed in the same rounds. Comparisons of two runs prefer it. */
  onMachine?: Spread;
  /** The measurements of both sides, as text. */
  detail: string;
  errors: number;
}

export interface Target {
  limit: number;
  /** Whether higher is better. */
  atLeast?: true;
}

export const isMet = ({ value }: Row, { limit, atLeast }: Target): boolean =>
  atLeast ? value.median >= limit : value.median <= limit;

export interface Options {
  /** Uses a third of the rounds and of the data, for a quick look. */
  isShort: boolean;
  /** Part of a row's name; other rows may be skipped. */
  only: string;
}
