import { assertEquals } from "@std/assert";
import { counts } from "../../local/backup/restore.ts";

Deno.test("the restore message counts one person and one organization in the singular", () => {
  assertEquals(counts({ people: 1, organizations: 1 }), "1 person and 1 organization");
  assertEquals(counts({ people: 2, organizations: 3 }), "2 people and 3 organizations");
});
