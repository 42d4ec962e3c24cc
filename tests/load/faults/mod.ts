/** All faults, in the order of a long run. */
import { CLOCK } from "./clock.ts";
import { DATABASE } from "./database.ts";
import { DISK } from "./disk.ts";
import type { Fault } from "./fault.ts";
import { FUNCTIONS } from "./functions.ts";
import { OUTSIDE } from "./outside.ts";
import { SECRETS } from "./secrets.ts";
import { UPGRADE } from "./upgrade.ts";
import { GATEWAY } from "./weather.ts";

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
