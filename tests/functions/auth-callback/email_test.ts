import { assert, assertEquals } from "@std/assert";
import { isEmail, reminderAddress } from "../../../functions/auth-callback/profile/email.ts";

Deno.test("isEmail() accepts addresses that mail can be sent to", () => {
  for (const text of ["a@b.example", "first.last+tag@sub.example.com", "ü@münchen.example", "o'neill@example.com"]) {
    assert(isEmail(text), text);
  }
  const wrong = [
    "",
    "a",
    "a@b",
    "@b.example",
    "a@",
    "a b@c.example",
    "a@b.example\nBcc: x@y.example",
    "<a@b.example>",
    "a,b@c.example",
    "a@b@c.example",
    "a@b.",
    `${"a".repeat(250)}@b.example`,
  ];
  for (const text of wrong) assert(!isEmail(text), text);
});

Deno.test("reminderAddress() returns the sign-in address unless another one was given", () => {
  assertEquals(reminderAddress(undefined, "a@b.example"), "a@b.example");
  assertEquals(reminderAddress("", "a@b.example"), "a@b.example");
  assertEquals(reminderAddress("A@B.example", "a@b.example"), "a@b.example");
  assertEquals(reminderAddress("c@b.example", "a@b.example"), "c@b.example");
});
