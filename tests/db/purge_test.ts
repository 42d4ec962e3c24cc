import { assertEquals, assertObjectMatch } from "@std/assert";
import { openBooks } from "../_support/books.ts";
import { openDatabase } from "../_support/database.ts";

const AT = "2026-11-20T03:17:00Z";
const ago = (interval: string) => `timestamptz '${AT}' - interval '${interval}'`;

Deno.test("jobs.purge_expired() deletes only expired rows", async () => {
  await using database = await openDatabase();
  const books = await openBooks(database, { day: "2026-11-20" });
  const { organizationId: organization, userId: user } = books;
  // One row of each kind just past its retention period, and one just before its end.
  await database.exec(`
    insert into app.idempotency_keys select '${organization}', '${user}', 'log_expenses', 'key-' || n || '-abcd', '\\x00', '{}', at
      from (values (1, ${ago("1 second")}), (2, ${ago("-1 second")})) as v (n, at);
    insert into app.import_batches (organization_id, actor_id, state, expires_at) select '${organization}', '${user}', 'ready', at
      from (values (${ago("1 second")}), (${ago("-1 second")})) as v (at);
    insert into oauth.clients (client_id, client_name, redirect_uris, created_at, granted_at)
      select 'client_' || n, 'Client', '{http://127.0.0.1/}', created_at, granted_at
      from (values (1, ${ago("1 year")}, null::timestamptz), (2, ${ago("6 days 1 second")}, null), (3, ${
    ago("6 days")
  }, null), (4, ${ago("1 year")}, ${ago("1 year")})) as v (n, created_at, granted_at);
    insert into oauth.rate_buckets (key, full_at) values ('full', ${ago("1 second")}), ('used', ${ago("-1 second")});
    insert into oauth.grants (id, client_id, user_id, organization_id, redirect_uri, resource, created_at, expires_at, revoked_at, revocation_reason)
      select md5(n::text)::uuid, 'client_1', '${user}', '${organization}', 'http://127.0.0.1/', 'http://127.0.0.1/api/mcp', ${
    ago("1 year")
  }, expires_at,
        revoked_at, case when n > 4 then 'code_replayed' when revoked_at is not null then 'revoked_by_user' end
      from (values (1, ${ago("31 days")}, null::timestamptz), (2, ${ago("-99 days")}, ${ago("31 days")}), (3, ${
    ago("29 days")
  }, ${ago("29 days")}), (4, ${ago("-99 days")}, null), (5, ${ago("-99 days")}, ${ago("31 days")}), (6, ${
    ago("-99 days")
  }, ${ago("181 days")})) as v (n, expires_at, revoked_at);
    insert into oauth.tokens (token_hash, kind, grant_id, issued_at, expires_at)
      select sha256(n::text::bytea), 'access', md5('4')::uuid, ${ago("60 days")}, at from (values (1, ${
    ago("31 days")
  }), (2, ${ago("29 days")})) as v (n, at);
    insert into oauth.used_codes (id, code_expires_at) select md5(n::text)::uuid, at from (values (1, ${
    ago("25 hours")
  }), (2, ${ago("23 hours")})) as v (n, at);
    insert into oauth.consents (id, user_id, organization_id, approved_at)
      select md5(n::text)::uuid, '${user}', '${organization}', at from (values (1, ${ago("25 hours")}), (2, ${
    ago("23 hours")
  })) as v (n, at);
    insert into identity.invitations (organization_id, address, role, invited_by, token_hash, created_at, expires_at)
      select '${organization}', n || '@example.com', 'member', '${user}', sha256(n::text::bytea), at, at
      from (values (1, ${ago("31 days")}), (2, ${ago("29 days")})) as v (n, at);
    insert into identity.attempts values ('old', array[${ago("3 days")}, ${ago("25 hours")}]), ('new', array[${
    ago("3 days")
  }, ${ago("23 hours")}]);
    insert into app.change_sets (organization_id, actor_id, tool, created_at)
      select '${organization}', '${user}', 'log_expenses', at from (values (${ago("401 days")}), (${
    ago("399 days")
  })) as v (at);
    insert into jobs.job_runs (job, period, stage, status, started_at, finished_at)
      select 'reminders', '2026-01-01', 'roll', 'ok', at, at from (values (${ago("91 days")}), (${
    ago("89 days")
  })) as v (at);
    insert into jobs.reminder_digests (id, recipient_id, local_on, status, next_attempt_at, created_at, closed_at)
      select md5(n::text)::uuid, '${user}', '2025-10-01'::date + n, 'sent', at, at, at
      from (values (1, ${ago("401 days")}), (2, ${ago("399 days")})) as v (n, at);
    insert into cron.job_run_details (jobid, end_time) values (1, ${ago("8 days")}), (1, ${ago("6 days")}), (1, null);
  `);
  const added = [];
  for (const name of ["Gone", "Deleted", "Kept"]) {
    const { bill } = await books.ok("add_bill", { name, amount: "10", first_due: "2026-11-20" });
    await books.ok("mark_bill_paid", { bill_id: bill.id });
    added.push(bill.id);
  }
  await database.exec(`
    update app.expenses set deleted_at = ${ago("31 days")} where id = '${added[0]}';
    update app.expenses set deleted_at = ${ago("29 days")} where id = '${added[1]}';
    update app.payments set deleted_at = ${ago("31 days")} where expense_id = '${added[1]}';`);

  await database.exec(`
    insert into jobs.reminder_log (organization_id, expense_id, due_on, digest_id, sent_at)
    select '${organization}', '${added[2]}', local_on, id, closed_at from jobs.reminder_digests`);

  const [row] = await database.query("select jobs.purge_expired($1) as removed", [AT]);
  assertObjectMatch(row!.removed as Record<string, unknown>, {
    "app.idempotency_keys": 1,
    "app.import_batches": 1,
    "oauth.used_codes": 1,
    "oauth.consents": 1,
    "oauth.tokens": 1,
    "oauth.grants": 3,
    "oauth.clients": 1,
    "oauth.rate_buckets": 1,
    "identity.attempts": 1,
    "identity.invitations": 1,
    "app.change_sets": 1,
    "app.payments": 1,
    "app.expenses": 1,
    "jobs.job_runs": 1,
    "jobs.reminder_digests": 1,
    "cron.job_run_details": 1,
  });
  const [left] = await database.query(
    `select (select array_to_string(array_agg(name order by name), ' ') from app.expenses) as bills,
       (select array_to_string(array_agg(expense_id), ' ') from app.payments) as payments,
       (select count(distinct expense_id) from app.expense_occurrences) as with_occurrences,
       (select count(*) from jobs.job_runs) as runs, (select array_agg(due_on) from jobs.reminder_log) as reminded_of,
       (select array_to_string(array_agg(key_hash), ' ') from identity.attempts) as attempts,
       (select array_to_string(array_agg(client_id order by client_id), ' ') from oauth.clients) as clients`,
  );
  assertEquals(left, {
    bills: "Deleted Kept",
    payments: added[2],
    with_occurrences: 2,
    runs: 1,
    reminded_of: ["2025-10-03"],
    attempts: "new",
    clients: "client_1 client_3 client_4",
  });
  assertEquals(await database.query("select schedule, command from cron.job where jobname = 'purge-expired'"), [
    { schedule: "7-57/10 3 * * *", command: "select jobs.purge(now())" },
  ]);
});

Deno.test("jobs.purge_expired() deletes a limited number of rows per table, and the rest on the next run", async () => {
  await using database = await openDatabase();
  await database.exec(`
    insert into oauth.rate_buckets (key, full_at) select n::text, ${ago("1 day")} from generate_series(1, 5) as n;
    insert into jobs.job_runs (job, period, stage, status, started_at, finished_at)
      select 'reminders', '2026-01-01', 'roll', 'ok', at, at
      from generate_series(1, 3), (select ${ago("91 days")} as at) as v`);
  const counts = [];
  for (let run = 0; run < 4; run++) {
    const [row] = await database.query("select jobs.purge_expired($1, 2) as removed", [AT]);
    const removed = row!.removed as Record<string, number>;
    counts.push([removed["oauth.rate_buckets"], removed["jobs.job_runs"]]);
  }
  assertEquals(counts, [[2, 2], [2, 1], [1, 0], [0, 0]]);
});
