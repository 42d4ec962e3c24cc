/**
 * Alternates the sides of a comparison, so that all of them see the same machine state. Each round measures one block
 * per side, in a rotating order, and yields one ratio.
 */
import { type Spread, spreadOf } from "./stats.ts";

/** Measures one block of one side. */
export type Block<Measured> = () => Promise<Measured>;

/** @returns the measurements of each side, by round */
export async function alternate<Side extends string, Measured>(
  sides: Record<Side, Block<Measured>>,
  rounds: number,
): Promise<Record<Side, Measured[]>> {
  const names = Object.keys(sides) as Side[];
  const measured = Object.fromEntries(names.map((name) => [name, [] as Measured[]])) as Record<Side, Measured[]>;
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < names.length; turn++) {
      const name = names[(turn + round) % names.length]!;
      measured[name].push(await sides[name]());
    }
  }
  return measured;
}

/** Ratios of one side to another, paired by round. */
export const ratiosOf = (of: readonly number[], to: readonly number[]): Spread =>
  spreadOf(of.map((value, round) => value / to[round]!));
