import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { cleanClientName, shownClientName } from "../../../shared/oauth/client_name.ts";

Deno.test("cleanClientName() keeps readable names in any script", () => {
  for (
    const name of ["Claude", "Visual Studio Code", "<script>alert(1)</script>", "مساعد", "経費アシスタント", "Zoë"]
  ) {
    assertEquals(cleanClientName(name), name);
  }
});

Deno.test("cleanClientName() removes invisible characters and text direction overrides", () => {
  assertEquals(cleanClientName("  Cla\u202eude\u0000\n  Code\u200b "), "Claude Code");
  assertEquals(cleanClientName("a\ud800b"), "ab");
  assertEquals(cleanClientName(`Z${"\u0300".repeat(50)}`), "Z\u0300\u0300".normalize("NFC"));
  for (const nothing of ["", " \t\n", "\u202e\u200b"]) assertEquals(cleanClientName(nothing), undefined);
});

Deno.test("cleanClientName() stores 200 characters at most, and shownClientName() shows 80", () => {
  const stored = cleanClientName("😀".repeat(10_000))!;
  assertEquals([...stored].length, 200);
  assertEquals([...shownClientName(stored)].length, 80);
  assert(shownClientName(stored).endsWith("…"));
});

Deno.test("cleanClientName() returns a value that a text column accepts", () => {
  fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 300 }), (name) => {
    const clean = cleanClientName(name);
    if (clean === undefined) return;
    assert(!/[\p{C}]/u.test(clean) && [...clean].length <= 200 && clean.isWellFormed());
  }));
});
