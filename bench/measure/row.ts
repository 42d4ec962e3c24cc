/** A line of the result: a figure, its baseline, and whether it meets its target. */
import type { Spread } from "./stats.ts";

export interface Row {
  /** Unique; targets are looked up by it. */
  name: string;
  /** The baseline; absent when the figure stands for itself. */
  against?: string;
  /** The figure that has a target: a ratio within one run, milliseconds, kB, lines or a count. */
  value: Spread;
  unit: "times" | "ms" | "kB" | "lines" | "";
  /**
   * The same, beside what the same rounds found of the machine's speed: two runs are compared by it, where there is
   * one.
   */
  onMachine?: Spread;
  /** What both sides measured, for the reader. */
  detail: string;
  errors: number;
}

export interface Target {
  limit: number;
  /** Whether more is better. */
  atLeast?: true;
}

export const isMet = ({ value }: Row, { limit, atLeast }: Target): boolean =>
  atLeast ? value.median >= limit : value.median <= limit;

export interface Options {
  /** A third of the rounds and of the data: for a look, not for a record. */
  isShort: boolean;
  /** Part of a row's name; rows without it need not be measured. */
  only: string;
}
