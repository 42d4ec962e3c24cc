import { assertEquals } from "@std/assert";
import { readUnsubscribing, signUnsubscribing } from "../../../shared/reminders/unsubscribe_token.ts";

const SECRETS = ["a-secret-of-more-than-thirty-two-bytes"];
const userId = "7d1d2c7a-0d53-4d3f-9a53-111111111111";

Deno.test("readUnsubscribing() identifies the link's owner even after 90 days, when the link grants nothing more", async () => {
  const token = await signUnsubscribing(SECRETS, { userId, sentOn: "2026-11-20" });
  for (const [at, isExpired] of [["2027-02-17T23:59:59Z", false], ["2027-02-18T00:00:00Z", true]] as const) {
    assertEquals(await readUnsubscribing(SECRETS, { token, at: new Date(at) }), { userId, isExpired });
  }
  const at = new Date("2026-11-20T10:00:00Z");
  for (const other of ["", `${token}x`, await signUnsubscribing(["another"], { userId, sentOn: "2026-11-20" })]) {
    assertEquals(await readUnsubscribing(SECRETS, { token: other, at }), null);
  }
});

Deno.test("signUnsubscribing() makes the same link when a mail is sent again", async () => {
  const sign = () => signUnsubscribing(SECRETS, { userId, sentOn: "2026-11-20" });
  assertEquals(await sign(), await sign());
});
