/** Clocks of all functions jump, as when a host's time is set. */
import type { World } from "../world/world.ts";
import { type Fault, pause } from "./fault.ts";

const LASTS_MS = 2_000;
const JUMP_MS = 10 * 60_000;

export const CLOCK: Fault[] = [{
  name: "clocks jump ten minutes ahead, then ten back",
  isUnnoticed: true,
  async act({ world }) {
    for (const ms of [JUMP_MS, -JUMP_MS, 0]) {
      await setClocks(world, ms);
      if (ms !== 0) await pause(LASTS_MS);
    }
  },
}];

async function setClocks({ functions }: World, ms: number): Promise<void> {
  await Promise.all(
    functions.all().map(async ({ port }) => {
      await (await fetch(`http://127.0.0.1:${port}/.load/clock?ms=${ms}`)).body?.cancel();
    }),
  );
}
