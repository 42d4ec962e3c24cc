/** Whether this service has plans: off until somebody sells them. */
import type { Session } from "../database/sql.ts";

export type PlansSwitch = "on" | "off";

/**
 * @param database as the owner of the schemas: no role of the API may write the setting.
 * @returns whether that was a change.
 */
export async function switchPlans(database: Session, to: PlansSwitch): Promise<{ changed: boolean }> {
  const changed = await database.query(
    "update billing.settings set plans_enabled = $1 where is_only and plans_enabled is distinct from $1 returning plans_enabled",
    [to === "on"],
  );
  return { changed: changed.length > 0 };
}

/** Whether nobody decided yet, as a query of a row with `answer`. */
export const ARE_PLANS_UNDECIDED = "select plans_enabled is null as answer from billing.settings";

/** Turns plans on where they are sold, unless the operator decided by hand. */
export const SELL_PLANS = "update billing.settings set plans_enabled = true where plans_enabled is null";
