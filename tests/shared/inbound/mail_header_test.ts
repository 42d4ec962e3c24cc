/** A mail's header, including its sender, is read completely or not at all. */
import { assertEquals } from "@std/assert";
import { describeMail } from "../../../shared/inbound/describe_mail.ts";
import { readMailHeader } from "../../../shared/inbound/mail_header.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const LIMIT = 256 * 1024;
/** Lines of a header up to a size. */
const filled = (size: number) => `From: a@b.com\r\n${"x: y\r\n".repeat(size)}`.slice(0, size - 2) + "\r\n";

Deno.test("a header over the limit has no fields, wherever the limit cuts it", () => {
  for (const size of [LIMIT - 1, LIMIT, LIMIT + 1, LIMIT + 2, LIMIT + 100]) {
    const mail = `${filled(size)}From: c@d.com\r\n\r\nText`;
    assertEquals(readMailHeader(bytes(mail)), [], String(size));
  }
  assertEquals(readMailHeader(bytes(`${"x: y\n".repeat(LIMIT)}`)), []);
});

Deno.test("a header within the limit is read, with a long text or without a text", () => {
  const fields = [{ name: "from", value: "a@b.com" }, { name: "x", value: "y z" }];
  for (const text of ["\r\n\r\n", "", `\r\n\r\n${"x".repeat(LIMIT)}`]) {
    assertEquals(readMailHeader(bytes(`From: a@b.com\r\nX: y\r\n z${text}`)), fields);
  }
});

Deno.test("an address that no mailbox can have is rejected as sender", async () => {
  const settings = { kind: "raw", domain: "in.example.com", user: "", secrets: [] } as const;
  const senderOf = async (from: string) => (await describeMail(bytes(`From: ${from}\r\n\r\n`), settings))?.sender;
  const domain = (length: number) => `${"a".repeat(60)}.`.repeat(4).slice(0, length - 4) + ".com";
  assertEquals(await senderOf(`A <${"b".repeat(64)}@${domain(189)}>`), `${"b".repeat(64)}@${domain(189)}`);
  const late = `A <a@b.com>${" ".repeat(2000)}, c@d.com`;
  for (const from of [late, `${"b".repeat(64)}@${domain(190)}`, "a\u0000b@c.com", "a\u0007b@c.com", "a\u200bb@c.com"]) {
    assertEquals(await senderOf(from), undefined, from);
  }
});
