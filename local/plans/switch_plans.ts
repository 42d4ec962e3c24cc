/** Turns plans on or off; the default is off, until the service sells plans. */
import type { Session } from "../database/sql.ts";

export type PlansSwitch = "on" | "off";

/**
 * @param database as the owner of the schemas, since no API role may write the setting.
 * @returns whether the setting changed.
 */
export async function switchPlans(database: Session, to: PlansSwitch): Promise<{ changed: boolean }> {
  const changed = await database.query(
    "update billing.settings set plans_enabled = $1 where is_only and plans_enabled is distinct from $1 returning plans_enabled",
    [to === "on"],
  );
  return { changed: changed.length > 0 };
}

/** A query whose column `answer` is true until the operator has decided. */
export const ARE_PLANS_UNDECIDED = "select plans_enabled is null as answer from billing.settings";

/** Turns plans on unless the operator has decided. */
export const SELL_PLANS = "update billing.settings set plans_enabled = true where plans_enabled is null";
