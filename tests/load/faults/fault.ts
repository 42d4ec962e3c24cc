/** The interface of a fault, which breaks a part under load and repairs it before it returns. */
import type { Load } from "../load.ts";

export interface Fault {
  name: string;
  /** Requests must not fail because of the fault. */
  isUnnoticed?: boolean;
  /** The fault affects a part that one server doesn't have: separate functions, or PostgREST. */
  isOfPlatform?: boolean;
  /** Breaks and repairs the part. */
  act(load: Load): Promise<void>;
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** As many calls as the stand-in has connections, so that no dead one remains. */
const GOOD_IN_A_ROW = 12;
const LONGEST_MS = 60_000;

/** Waits until the functions reach the database again. @throws when they do not within a minute */
export async function untilWell({ world }: Load): Promise<void> {
  const until = performance.now() + LONGEST_MS;
  let goodInARow = 0;
  while (performance.now() < until) {
    goodInARow = await isWell(world.functions.instanceOf("oauth").port) ? goodInARow + 1 : 0;
    if (goodInARow === GOOD_IN_A_ROW) return;
    await pause(50);
  }
  throw new Error("the service did not come back within a minute");
}

async function isWell(port: number): Promise<boolean> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/api/health`, { signal: AbortSignal.timeout(3_000) });
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    return false;
  }
}
