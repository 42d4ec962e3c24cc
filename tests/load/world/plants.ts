/** Defects to plant in the database, so that a run proves that it finds them. boot.ts has the others. */
import type { SqlDatabase } from "../../../local/database/sql.ts";

export const PLANTS = ["lost write", "foreign row", "double mail", "leak", "logged token"] as const;
export type Plant = typeof PLANTS[number];

const SQL: Partial<Record<Plant, string>> = {
  // A write that is acknowledged with its id and lost when the transaction commits.
  "lost write": `
    create function app.planted_loss() returns trigger language plpgsql security definer set search_path = '' as $$
    begin
      delete from app.payments where expense_id = new.id;
      delete from app.expenses where id = new.id;
      return null;
    end $$;
    create constraint trigger planted_loss after insert on app.expenses deferrable initially deferred
      for each row when (new.name like '%lunch %7') execute function app.planted_loss();`,
  // Policies without the owner's condition, and a reader that relies on them.
  "foreign row": `
    create policy "Planted" on app.expenses for select to authenticated using (true);
    create policy "Planted" on app.payments for select to authenticated using (true);`,
};

export async function plantInDatabase(admin: SqlDatabase, plant: string | undefined): Promise<void> {
  const sql = SQL[plant as Plant];
  if (sql) await admin.exec(sql);
}
