/** Kills instances of functions at any instant. */
import { SLUGS } from "../../../shared/routes.ts";
import { type Fault, pause } from "./fault.ts";

const PAUSE_MS = 300;

export const FUNCTIONS: Fault[] = [{
  name: "every function's process is killed at a random instant",
  async act({ world }) {
    await Promise.all(SLUGS.map(async (slug) => {
      await pause(PAUSE_MS * Math.random() * SLUGS.length);
      await world.functions.kill(slug);
    }));
  },
}];
