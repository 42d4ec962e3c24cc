/** Turns plans off, so that everybody has everything, or on again. */
import type { Session } from "../database/sql.ts";

export type PlansSwitch = "on" | "off";

/**
 * @param database as the owner of the schemas: no role of the API may write the setting.
 * @returns whether that was a change.
 */
export async function switchPlans(database: Session, to: PlansSwitch): Promise<{ changed: boolean }> {
  const changed = await database.query(
    "update billing.settings set plans_enabled = $1 where is_only and plans_enabled <> $1 returning plans_enabled",
    [to === "on"],
  );
  return { changed: changed.length > 0 };
}
