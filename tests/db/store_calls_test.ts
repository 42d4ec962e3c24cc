/**
 * Every store call names an existing function and its arguments, including all required ones. PostgREST resolves
 * functions by argument names, so a wrong name causes a 404, but only at run time.
 */
import { assertEquals } from "@std/assert";
import { ANSWERS } from "../_support/answers.ts";
import { openDatabase } from "../_support/database.ts";
import { callsIn, functionsOf, problemOf, storeCalls } from "../_support/store_calls.ts";

Deno.test("stores call existing functions by their argument names", async () => {
  const database = await openDatabase();
  const functions = await functionsOf(database).finally(() => database.close());
  const calls = await storeCalls();
  const problems = calls.flatMap(({ file, ...call }) => {
    const problem = problemOf(call, functions);
    return problem ? [`${file}: ${problem}`] : [];
  });
  const called = new Set(calls.map(({ name }) => name));
  assertEquals(problems, []);
  assertEquals([...called].toSorted(), Object.keys(ANSWERS).toSorted(), "each function called has a schema");
  const uncalled = [...functions.keys()].filter((name) => !called.has(name)).toSorted();
  assertEquals(uncalled, UNCALLED, "functions of the database that no store calls");
});

/** Parts of read_account, and functions for operators. */
const UNCALLED = ["list_connected_apps", "list_grant_alerts", "replay_parked_events"];

Deno.test("test of the test: a misspelled function, an unknown and a missing argument are found", () => {
  const functions = new Map([["read_account", { all: ["user_id", "at"], needed: ["user_id", "at"] }]]);
  const problems = callsIn(
    "planted_store.ts",
    `database.call<Account>("read_acount", { user_id, at }); call("read_account", { user, at }); database.call("read_account", { at });`,
  ).map((call) => problemOf(call, functions));
  assertEquals(problems, [
    "there is no function public.read_acount",
    "read_account takes no user",
    "read_account is not given user_id",
  ]);
});
