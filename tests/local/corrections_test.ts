/**
 * Corrections 1 to 5 of `@supabase/lite` (local/lite/corrections.ts lists them; 6 is identity_provider_test.ts, 7 data_folder_test.ts). Each
 * is shown missing in lite as it is shipped, so that an upgrade which no longer needs it is noticed, and working here.
 */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { sign } from "hono/jwt";
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

const withLite = async (corrected: boolean, work: (lite: Lite) => Promise<void>) => {
  const lite = await openLite({ corrected, prepare: FIXTURE });
  try {
    await work(lite);
  } finally {
    await lite.close();
  }
};

interface Person {
  id: string;
  token: string;
}

async function people(lite: Lite, count: number): Promise<Person[]> {
  const made = [];
  for (let index = 0; index < count; index++) {
    const id = crypto.randomUUID();
    await lite.database.query("insert into auth.users (id, email) values ($1, $2)", [id, `${index}@example.com`]);
    const expires = Math.floor(Date.now() / 1000) + 600;
    const claims = { sub: id, role: "authenticated", aud: "authenticated", exp: expires };
    made.push({ id, token: await sign(claims, SETTINGS.jwtSecret, "HS256") });
  }
  return made;
}

/** How many of many concurrent requests were answered with another person's identity, rows or role, or lost what they acknowledged. */
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

/** Broken by the race, an answer may be no JSON at all. */
async function ask(lite: Lite, { name, args, token }: { name: string; args?: unknown; token: string }) {
  try {
    const response = await lite.rpc(name, args, token);
    return { ok: response.ok, answer: await response.json() };
  } catch {
    return { ok: false, answer: undefined };
  }
}

Deno.test("1. concurrent requests keep their own role and rows", async (t) => {
  await t.step("not in lite as it is shipped", () =>
    withLite(false, async (lite) => {
      // What the race throws beside the requests that it breaks is not this test's concern.
      const ignore = (event: PromiseRejectionEvent) => event.preventDefault();
      globalThis.addEventListener("unhandledrejection", ignore);
      assert(await wrongAnswers(lite, { persons: 12, rounds: 4 }) > 0);
      globalThis.removeEventListener("unhandledrejection", ignore);
    }));
  await t.step("with the serial driver: 0 wrong of 960", () =>
    withLite(true, async (lite) => {
      assertEquals(await wrongAnswers(lite, { persons: 40, rounds: 12 }), 0);
      const [state] = await lite.database.query("select current_user as role, current_setting('role') as setting");
      assertEquals(state, { role: "postgres", setting: "none" });
    }));
});

Deno.test("1b. a transaction beside lite waits for its requests, and they for it", () =>
  withLite(true, async (lite) => {
    const [person] = await people(lite, 1);
    const added = Promise.all(Array.from({ length: 20 }, () => lite.rpc("add_note", { body: "note" }, person!.token)));
    const seen = await lite.database.transaction(async (session) => {
      const count = async () =>
        (await session.query<{ count: number }>("select count(*) from fixture.notes"))[0]!.count;
      const before = await count();
      await new Promise((resolve) => setTimeout(resolve, 20));
      return [before, await count()];
    });
    assertEquals(seen[0], seen[1]);
    assert((await added).every((response) => response.ok));
  }));

Deno.test("2. the first request grants nothing", async (t) => {
  const mayAnonRead = async (lite: Lite) => {
    await (await lite.rpc("my_notes")).body?.cancel();
    const [row] = await lite.database.query<{ may: boolean }>(
      "select has_table_privilege('anon', 'fixture.notes', 'select') as may",
    );
    return row!.may;
  };
  await t.step("not in lite as it is shipped", () => withLite(false, async (lite) => assert(await mayAnonRead(lite))));
  await t.step("with rlsState preset", () => withLite(true, async (lite) => assert(!await mayAnonRead(lite))));
  await t.step("and the correction says so when there is no such field", async () => {
    await assertRejects(() => correctConnection({} as never), Error, "rlsState");
  });
});

Deno.test("3. a function can act for another user by request.jwt.claims, also after a restart of lite", () =>
  withLite(true, async (lite) => {
    const person = crypto.randomUUID();
    const actFor = async () => (await (await lite.rpc("act_for", { person })).json()).user;
    assertEquals(await actFor(), person);
    await lite.app.ensureSystemSchema();
    assertEquals(
      await actFor(),
      null,
      "lite no longer restores its own auth.uid(): auth.sql need not be run at every start",
    );
    await lite.database.exec(await Deno.readTextFile("local/database/auth.sql"));
    assertEquals(await actFor(), person);
  }));

Deno.test("5. a SQLSTATE reaches the client with the status that PostgREST gives it", async (t) => {
  const expected: [code: string, status: number][] = [
    ["P0001", 400],
    ["23514", 400],
    ["EX001", 400],
    ["28000", 403],
    ["40001", 500],
    ["53300", 503],
    ["57P01", 503],
    // These lite has right already.
    ["42501", 403],
    ["23505", 409],
    ["22023", 400],
    ["PT402", 402],
  ];
  const answer = async (lite: Lite, code: string) => {
    const response = await lite.rpc("fail_with", { code });
    return { status: response.status, body: await response.json() };
  };
  await withoutConsole(async () => {
    await t.step("not in lite as it is shipped", () =>
      withLite(false, async (lite) => {
        const { status, body } = await answer(lite, "P0001");
        assertEquals([status, body.code], [500, "SUP"]);
      }));
    await t.step("with toWireError", () =>
      withLite(true, async (lite) => {
        for (const [code, status] of expected) {
          const { status: got, body } = await answer(lite, code);
          assertEquals([code, got, body.code, body.message], [code, status, code, "refused"]);
        }
        assertEquals((await answer(lite, "EX001")).body, {
          code: "EX001",
          message: "refused",
          details: "because",
          hint: "do not",
        });
      }));
  });
});

/** lite prints every failed statement. */
async function withoutConsole(work: () => Promise<void>): Promise<void> {
  // deno-lint-ignore no-console -- taken away from lite, not used
  const print = console.error;
  // deno-lint-ignore no-console -- as above
  console.error = () => {};
  await work();
  // deno-lint-ignore no-console -- as above
  console.error = print;
}
