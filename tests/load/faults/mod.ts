/** All faults, in the order of a long run. */
import { SLUGS } from "../../../shared/routes.ts";
import { WEATHER } from "../world/gateway.ts";
import { MOODS, type Party } from "../world/outside.ts";
import { newKey, newSecret } from "../world/secrets.ts";
import type { World } from "../world/world.ts";
import { DATABASE } from "./database.ts";
import { DISK } from "./disk.ts";
import { type Fault, pause } from "./fault.ts";
import { UPGRADE } from "./upgrade.ts";

const BETWEEN_MS = 300;

/** Kills instances of functions at any instant. */
const FUNCTIONS: Fault[] = [{
  name: "every function's process is killed at a random instant",
  async act({ world }) {
    await Promise.all(SLUGS.map(async (slug) => {
      await pause(BETWEEN_MS * Math.random() * SLUGS.length);
      await world.functions.kill(slug);
    }));
  },
}];

const WEATHER_MS = 3_000;

/** PostgREST, or the gateway in front of it, fails for a moment. */
const GATEWAY: Fault[] = WEATHER.filter((weather) => weather !== "fair").map((weather) => ({
  name: `PostgREST is ${weather}`,
  isOfPlatform: true,
  async act({ world }) {
    world.gateway!.weather = weather;
    await pause(WEATHER_MS);
    world.gateway!.weather = "fair";
  },
}));

const MOOD_MS = 2_500;
const PARTIES: Party[] = ["mail", "rates", "providers"];

/**
 * Third-party services fail, all three at once and in the same way. Only dependent work may wait, and no work is done
 * twice.
 */
const OUTSIDE: Fault[] = MOODS.filter((mood) => mood !== "well").map((mood) => ({
  name: `mail, rates and bill providers are ${mood}`,
  isUnnoticed: true,
  async act({ world, scheduler }) {
    for (const party of PARTIES) world.outside.mood[party] = mood;
    await scheduler.addReminders();
    await Promise.all([pause(MOOD_MS), scheduler.run("reminders"), scheduler.run("provider-sync")]);
    for (const party of PARTIES) world.outside.mood[party] = "well";
  },
}));

const JUMPED_MS = 2_000;
const JUMP_MS = 10 * 60_000;

/** Clocks of all functions jump, as when a host's time is set. */
const CLOCK: Fault[] = [{
  name: "clocks jump ten minutes ahead, then ten back",
  isUnnoticed: true,
  async act({ world }) {
    for (const ms of [JUMP_MS, -JUMP_MS, 0]) {
      await setClocks(world, ms);
      if (ms !== 0) await pause(JUMPED_MS);
    }
    // The schedule would apply the events that were dated ahead within 15 minutes.
    await world.admin.query("select public.replay_parked_events()");
  },
}];

async function setClocks({ functions }: World, ms: number): Promise<void> {
  await Promise.all(
    functions.all().map(async ({ port }) => {
      await (await fetch(`http://127.0.0.1:${port}/.load/clock?ms=${ms}`)).body?.cancel();
    }),
  );
}

const BOTH_MS = 2_000;

/**
 * Rotates each secret of the functions as in docs/running.md: first with the new one in front, later without the old
 * one.
 */
const SECRETS: Fault[] = [{
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

export const FAULTS: readonly Fault[] = [
  ...DATABASE,
  ...FUNCTIONS,
  ...GATEWAY,
  ...OUTSIDE,
  ...CLOCK,
  ...SECRETS,
  ...DISK,
  ...UPGRADE,
];
