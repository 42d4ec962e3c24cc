/**
 * Corrections 1, 2, 3 and 5 of `@supabase/lite` (local/lite/corrections.ts lists all; arguments_test.ts tests 4,
 * identity_provider_test.ts 6, start_test.ts 7). Each test shows that lite as shipped lacks the correction, which
 * detects an upgrade that makes it unnecessary, and that it works here.
 */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { sign } from "hono/jwt";
import { readBootstrap } from "../../local/database/prepare.ts";
import { correctConnection } from "../../local/lite/corrections.ts";
import { SETTINGS } from "../_support/database.ts";
import { type Lite, openLite } from "../_support/lite.ts";

const FIXTURE = `
  create schema fixture;
  create table fixture.notes (owner uuid not null default auth.uid(), body text not null);
  alter table fixture.notes enable row level security;
  create policy "People have their own notes" on fixture.notes to authenticated using (owner = (select auth.uid()));
  grant usage on schema fixture to authenticated;
  grant select, insert on fixture.notes to authenticated;
  revoke all on fixture.notes from anon, service_role;

  create function public.add_note(body text) returns jsonb language plpgsql as $$
  begin
    if body like '%fail%' then raise exception 'refused'; end if;
    insert into fixture.notes (body) values (add_note.body);
    return jsonb_build_object('user', auth.uid(), 'role', current_user);
  end $$;
  create function public.my_notes() returns jsonb language sql volatile as
    $$ select jsonb_build_object('owners', coalesce(jsonb_agg(distinct owner), '[]'), 'count', count(*), 'role', current_user) from fixture.notes $$;
  create function public.act_for(person uuid) returns jsonb language plpgsql as $$
  begin
    perform set_config('request.jwt.claims', jsonb_build_object('sub', person, 'role', 'authenticated')::text, true);
    return jsonb_build_object('user', auth.uid());
  end $$;
  create function public.fail_with(code text) returns jsonb language plpgsql as
    $$ begin raise exception 'refused' using errcode = code, detail = 'because', hint = 'do not'; end $$;
  grant execute on all functions in schema public to authenticated, service_role;`;

interface Person {
  id: string;
  token: string;
}

async function people(lite: Lite, count: number): Promise<Person[]> {
  const made = [];
  for (let index = 0; index < count; index++) {
    const id = crypto.randomUUID();
    await lite.database.query("insert into auth.users (id, email) values ($1, $2)", [id, `${id}@example.com`]);
    const expires = Math.floor(Date.now() / 1000) + 600;
    const claims = { sub: id, role: "authenticated", aud: "authenticated", exp: expires };
    made.push({ id, token: await sign(claims, SETTINGS.jwtSecret, "HS256") });
  }
  return made;
}

/**
 * The number of concurrent requests that got another person's identity, rows or role, or lost an acknowledged write.
 */
async function wrongAnswers(lite: Lite, { persons, rounds }: { persons: number; rounds: number }): Promise<number> {
  let wrong = 0;
  await Promise.all((await people(lite, persons)).map(async ({ id, token }) => {
    let written = 0;
    for (let round = 0; round < rounds; round++) {
      const refused = round % 6 === 5;
      const added = await ask(lite, { name: "add_note", args: { body: refused ? "fail" : "note" }, token });
      const isRight = refused ? !added.ok : added.answer?.user === id && added.answer.role === "authenticated";
      if (added.ok) written++;
      const { answer: mine } = await ask(lite, { name: "my_notes", token });
      const isMine = mine?.role === "authenticated" && mine.count === written &&
        (!written || mine.owners.join() === id);
      if (!isRight) wrong++;
      if (!isMine) wrong++;
    }
  }));
  return wrong;
}

/** An answer broken by the race may not be JSON. */
async function ask(lite: Lite, { name, args, token }: { name: string; args?: unknown; token: string }) {
  try {
    const response = await lite.rpc(name, args, token);
    return { ok: response.ok, answer: await response.json() };
  } catch {
    return { ok: false, answer: undefined };
  }
}

/** Whether a request lets `anon` read a table without a grant. */
async function mayAnonRead(lite: Lite): Promise<boolean> {
  await (await lite.rpc("my_notes")).body?.cancel();
  const [row] = await lite.database.query<{ may: boolean }>(
    "select has_table_privilege('anon', 'fixture.notes', 'select') as may",
  );
  return row!.may;
}

async function failWith(lite: Lite, code: string) {
  const response = await lite.rpc("fail_with", { code });
  return { status: response.status, body: await response.json() };
}

const restore = withoutConsole();
const shipped = await openLite({ corrected: false, prepare: FIXTURE });
const lite = await openLite({ corrected: true, prepare: FIXTURE });
Deno.test.afterAll(async () => {
  await Promise.all([shipped.close(), lite.close()]);
  restore();
});

Deno.test("@supabase/lite as it is shipped: 2. grants everything at its first request", async () =>
  assert(await mayAnonRead(shipped)));
Deno.test("@supabase/lite as it is shipped: 5. loses the code of a plain exception", async () => {
  const { status, body } = await failWith(shipped, "P0001");
  assertEquals([status, body.code], [500, "SUP"]);
});
Deno.test("@supabase/lite as it is shipped: 1. responds to concurrent requests with each other's role and rows", async () => {
  // Ignores errors that the race throws elsewhere.
  const ignore = (event: PromiseRejectionEvent) => event.preventDefault();
  globalThis.addEventListener("unhandledrejection", ignore);
  const raced = await openLite({ corrected: false, prepare: FIXTURE });
  assert(await wrongAnswers(raced, { persons: 12, rounds: 4 }) > 0);
  await raced.close();
  globalThis.removeEventListener("unhandledrejection", ignore);
});

Deno.test("@supabase/lite with its corrections: 1. returns 0 wrong answers of 960 to 40 people at once", async () => {
  assertEquals(await wrongAnswers(lite, { persons: 40, rounds: 12 }), 0);
  const [state] = await lite.database.query("select current_user as role, current_setting('role') as setting");
  assertEquals(state, { role: "postgres", setting: "none" });
});

Deno.test("@supabase/lite with its corrections: 1. stays out of a concurrent transaction, which sees none of its requests", async () => {
  const [person] = await people(lite, 1);
  const added = Promise.all(
    Array.from({ length: 20 }, () => lite.rpc("add_note", { body: "note" }, person!.token)),
  );
  const seen = await lite.database.transaction(async (session) => {
    const count = async () => (await session.query<{ count: number }>("select count(*) from fixture.notes"))[0]!.count;
    const before = await count();
    await new Promise((resolve) => setTimeout(resolve, 20));
    return [before, await count()];
  });
  assertEquals(seen[0], seen[1]);
  assert((await added).every((response) => response.ok));
});

Deno.test("@supabase/lite with its corrections: 2. grants nothing", async () => {
  assert(!await mayAnonRead(lite));
  await assertRejects(() => correctConnection({} as never), Error, "rlsState");
});

Deno.test("@supabase/lite with its corrections: 3. lets a function act for another user, as long as auth.sql runs after each start", async () => {
  const person = crypto.randomUUID();
  const actFor = async () => (await (await lite.rpc("act_for", { person })).json()).user;
  assertEquals(await actFor(), person);
  await lite.app.ensureSystemSchema();
  assertEquals(await actFor(), null, "lite no longer restores its own auth.uid()");
  await lite.database.exec((await readBootstrap()).auth!);
  assertEquals(await actFor(), person);
});

Deno.test("@supabase/lite with its corrections: 5. responds to a SQLSTATE with PostgREST's status", async () => {
  const expected: [code: string, status: number][] = [
    ["P0001", 400],
    ["23514", 400],
    ["EX001", 400],
    ["28000", 403],
    ["40001", 500],
    ["53300", 503],
    ["57P01", 503],
    // lite already handles these correctly.
    ["42501", 403],
    ["23505", 409],
    ["22023", 400],
    ["PT402", 402],
  ];
  for (const [code, status] of expected) {
    const { status: got, body } = await failWith(lite, code);
    assertEquals([code, got, body.code, body.message], [code, status, code, "refused"]);
  }
  const { body } = await failWith(lite, "EX001");
  assertEquals(body, { code: "EX001", message: "refused", details: "because", hint: "do not" });
});

/** lite prints every failed statement; silences it and returns a function that restores it. */
function withoutConsole(): () => void {
  // deno-lint-ignore no-console -- taken away from lite, not used
  const print = console.error;
  // deno-lint-ignore no-console -- as above
  console.error = () => {};
  // deno-lint-ignore no-console -- as above
  return () => void (console.error = print);
}
