/** Third-party services fail. Only dependent work may wait, and no work is done twice. */
import { MOODS, type Party } from "../world/outside.ts";
import { type Fault, pause } from "./fault.ts";

const LASTS_MS = 2_500;
const PARTIES: Party[] = ["mail", "rates", "providers"];

/** All three at once, in the same failure mode. */
export const OUTSIDE: Fault[] = MOODS.filter((mood) => mood !== "well").map((mood) => ({
  name: `mail, rates and bill providers are ${mood}`,
  isUnnoticed: true,
  async act({ world, scheduler }) {
    for (const party of PARTIES) world.outside.mood[party] = mood;
    await scheduler.addReminders();
    await Promise.all([pause(LASTS_MS), scheduler.run("reminders"), scheduler.run("provider-sync")]);
    for (const party of PARTIES) world.outside.mood[party] = "well";
  },
}));
