/**
 * Rotates each secret of the functions as in docs/running.md: first with the new one in front, later without the old
 * one.
 */
import { newKey, newSecret } from "../world/secrets.ts";
import { type Fault, pause } from "./fault.ts";

const BOTH_MS = 2_000;

export const SECRETS: Fault[] = [{
  name: "each secret is rotated",
  isUnnoticed: true,
  isOfPlatform: true,
  async act({ world, scheduler }) {
    const { secrets, functions } = world;
    for (const name of ["code", "cron", "webhook"] as const) secrets[name].unshift(newSecret(name));
    secrets.credentials.unshift(newKey());
    await functions.replaceAll();
    await pause(BOTH_MS);
    // The job reseals every credential that it can open with the new key.
    await scheduler.run("provider-sync");
    for (const all of Object.values(secrets) as string[][]) all.length = 1;
    await functions.replaceAll();
  },
}];
