/** PostgREST or the gateway before it fails for a moment. */
import { WEATHER } from "../world/gateway.ts";
import { type Fault, pause } from "./fault.ts";

const LASTS_MS = 3_000;

export const GATEWAY: Fault[] = WEATHER.filter((weather) => weather !== "fair").map((weather) => ({
  name: `PostgREST is ${weather}`,
  isOfPlatform: true,
  async act({ world }) {
    world.gateway!.weather = weather;
    await pause(LASTS_MS);
    world.gateway!.weather = "fair";
  },
}));
