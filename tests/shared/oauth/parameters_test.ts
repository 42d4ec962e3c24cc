import { assertEquals } from "@std/assert";
import { readParameters } from "../../../shared/oauth/parameters.ts";

const read = (query: string) => readParameters(new URLSearchParams(query), ["client_id", "state"]);

Deno.test("readParameters() ignores unknown parameters and treats empty ones as absent", () => {
  assertEquals(read("client_id=a&state=&x=1&x=2"), { ok: true, values: { client_id: "a" } });
});

Deno.test("readParameters() refuses a parameter that was sent twice, even with the same value", () => {
  assertEquals(read("client_id=a&state=1&state=1"), { ok: false, repeated: "state" });
  assertEquals(read("client_id=&client_id=a"), { ok: false, repeated: "client_id" });
});
