/** Accepted incoming request ids, and separate ids for concurrent work. */
import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { createDatabase } from "../../../shared/db/client.ts";
import { currentRequest, withRequest } from "../../../shared/http/current_request.ts";
import { requestIdOf } from "../../../shared/http/request_id.ts";
import { FRONT_DOOR_HEADER, REQUEST_ID_HEADER } from "../../../shared/routes.ts";

const SECRET = "the-front-door-has-this-one-of-32-bytes";
const idFor = (given?: string, proof: string | undefined = SECRET) =>
  requestIdOf(
    new Headers({
      ...(given !== undefined && { [REQUEST_ID_HEADER]: given }),
      ...(proof && { [FRONT_DOOR_HEADER]: proof }),
    }),
    { frontDoorSecrets: ["another-one-of-at-least-thirty-two-bytes", SECRET] },
  );

Deno.test("requestIdOf() accepts only ids in the formats of our front door and Caddy", () => {
  for (const id of ["0b1e58f0-7f4e-4c7b-9a39-1a2b3c4d5e6f", "0b1e58f07f4e4c7b9a391a2b3c4d5e6f"]) {
    assertEquals(idFor(id), id);
  }
  for (const forged of [undefined, "", "1", "0B1E58F0-7F4E-4C7B-9A39-1A2B3C4D5E6F", "'; drop table", "0".repeat(64)]) {
    assertNotEquals(idFor(forged), forged);
    assertMatch(idFor(forged), /^[0-9a-f-]{36}$/);
  }
});

Deno.test("requestIdOf() ignores an id without a trusted front door", () => {
  const id = "0b1e58f0-7f4e-4c7b-9a39-1a2b3c4d5e6f";
  for (const proof of ["", "guess", SECRET.slice(1)]) assertNotEquals(idFor(id, proof), id);
});

Deno.test("two concurrent requests send their own ids to the database, and other work sends none", async () => {
  const sent: (string | null)[][] = [];
  const database = createDatabase({
    url: "http://127.0.0.1",
    key: "sb_secret_x",
    fetch: (_url, init) => {
      const headers = new Headers(init!.headers);
      sent.push([headers.get(REQUEST_ID_HEADER), headers.get("x-client-info")]);
      return Promise.resolve(Response.json({ id: currentRequest()?.id ?? null }));
    },
  });
  const work = async () => {
    await Promise.resolve();
    return await database.call("ping", {});
  };
  // No id, unless a request of another test continues: Deno 2.1.4 lets its id reach later work.
  const around = currentRequest()?.id ?? null;
  assertEquals(await Promise.all([withRequest({ id: "one" }, work), withRequest({ id: "two" }, work), work()]), [
    { id: "one" },
    { id: "two" },
    { id: around },
  ]);
  assertEquals(sent.slice(0, 2), [["one", "expenses request one"], ["two", "expenses request two"]]);
  assertEquals(sent[2]![0], around);
});
