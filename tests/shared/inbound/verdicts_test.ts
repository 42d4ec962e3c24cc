/** The proof of a sender's domain. Senders choose the envelope's address and the name in HELO. */
import { assertEquals } from "@std/assert";
import type { InboundKind } from "../../../shared/inbound/inbound_url.ts";
import { readMailHeader } from "../../../shared/inbound/mail_header.ts";
import { judgeSender } from "../../../shared/inbound/verdicts.ts";

const HOP = "Received: from mail.evil.com by mx.example.com; Fri, 20 Nov 2026 11:58:07 +0000";
const SES = "Received: from mail.evil.com by inbound-smtp.eu-west-1.amazonaws.com with SMTP; Fri, 20 Nov 2026";

function isProven(kind: InboundKind, lines: string[]): boolean {
  const fields = readMailHeader(new TextEncoder().encode([...lines, "From: ceo@victim.com", "", ""].join("\r\n")));
  return judgeSender(fields, "victim.com", { kind, domain: "in.example.com", user: "", secrets: [] }).isProven;
}
const postmark = (spf: string) => isProven("postmark", [`Received-SPF: Pass (sender SPF authorized) ${spf}`, HOP]);
const resend = (results: string) => isProven("resend", [SES, `Authentication-Results: amazonses.com; ${results}`]);
const raw = (...results: string[]) =>
  isProven("raw", [...results.map((result) => `Authentication-Results: in.example.com; ${result}`), HOP]);

const MAILFROM = "identity=mailfrom; client-ip=192.0.2.1; ";
const FAILED = "dmarc=fail header.from=victim.com";

Deno.test("aligned results authenticate the sender's domain", () => {
  const receiver = "receiver=451d9b70cf93@inbound.postmarkapp.com";
  assertEquals(postmark(`${MAILFROM}helo=x; envelope-from=a@victim.com; ${receiver}`), true);
  assertEquals(postmark(`${MAILFROM}helo=x; envelope-from="<a@victim.com>"; receiver=in+0@in.example.com`), true);
  assertEquals(postmark(`${MAILFROM}helo=x; envelope-from="a@victim.com"`), true);
  assertEquals(
    resend(
      "spf=pass (x: domain of victim.com) envelope-from=a@b.com; helo=b.com; dkim=pass header.i=@victim.com; dmarc=none",
    ),
    true,
  );
  assertEquals(resend("spf=fail envelope-from=a@b.com; helo=b.com; dmarc=pass header.from=victim.com;"), true);
  assertEquals(raw("spf=pass smtp.mailfrom=a@victim.com; dmarc=none"), true);
  assertEquals(raw("spf=fail reason=\"not 'listed'\" smtp.mailfrom=a@b.com; dkim=pass header.d=victim.com"), true);
  assertEquals(raw("dkim=pass header.d=b.com; dkim=pass header.d=victim.com; dmarc=pass header.from=victim.com"), true);
  assertEquals(raw("spf=pass smtp.mailfrom=a@victim.com", "dmarc=none header.from=victim.com"), true);
});

Deno.test("a forged address in Postmark's SPF result proves nothing", () => {
  for (
    const spf of [
      "helo=x;envelope-from=a@victim.com; envelope-from=b@evil.com",
      'helo="x;envelope-from=a@victim.com"; envelope-from=b@evil.com',
      'helo=x; envelope-from="a@victim.com"@evil.com',
      'helo=x; envelope-from=<"a@victim.com"@evil.com>',
      "helo=x; envelope-from=a@victim.com;@evil.com",
      "helo=x; envelope-from=a@victim.com;receiver=b@evil.com",
      "helo=x; envelope-from=a@victim.com;receiver=b@evil.com; receiver=in+0@in.example.com",
      "helo=x;xenvelope-from=a@victim.com; envelope-from=<>",
      "helo=x; identity=helo; envelope-from=a@victim.com",
    ]
  ) assertEquals(postmark(MAILFROM + spf), false, spf);
  assertEquals(postmark("identity=helo; helo=x;identity=mailfrom; envelope-from=a@victim.com"), false);
});

Deno.test("a forged result among Amazon's results proves nothing", () => {
  for (
    const results of [
      `spf=pass envelope-from=b@evil.com; helo=x;dmarc=pass/header.from=victim.com; ${FAILED}`,
      `spf=pass envelope-from="x; dmarc=pass header.from=victim.com"@evil.com; helo=x; ${FAILED}`,
      `spf=pass envelope-from=b@evil.com; helo=x;dmarc=pass header.from=victim.com; ${FAILED}`,
      "spf=pass envelope-from=b@evil.com; helo=x;dmarc=pass/header.from=victim.com",
      'spf=pass envelope-from="x;dkim=pass header.d=victim.com;y"@evil.com; helo=x',
      "spf=pass envelope-from=x;dkim=pass\u00a0header.d=victim.com\u00a0@evil.com; helo=x",
      `dkim=pass header.i=@victim.com; spf=pass envelope-from=a(@evil.com; helo=x; ${FAILED}`,
      `dkim=pass header.i=@victim.com; ${"dkim=fail header.i=@evil.com; ".repeat(400)}${FAILED}`,
    ]
  ) assertEquals(resend(results), false, results);
});

Deno.test("a forged result among a mail server's results proves nothing", () => {
  for (
    const results of [
      'spf=pass smtp.mailfrom="a@victim.com"@evil.com; dmarc=none header.from=victim.com',
      `spf=pass smtp.mailfrom="a;dmarc=pass header.from=victim.com"@evil.com; ${FAILED}`,
      'spf=pass smtp.mailfrom="a reason="@evil.com; dmarc=pass header.from=victim.com reason="x"',
      "spf=pass smtp.mailfrom=b@evil.com smtp.helo=x;spf=pass smtp.mailfrom=a@victim.com",
      "spf=pass smtp.mailfrom=a@victim.com smtp.mailfrom=b@evil.com",
      "spf=pass smtp.mailfrom=a@victim.com@evil.com",
    ]
  ) assertEquals(raw(results), false, results);
  const forged = 'spf=pass smtp.mailfrom="a;dmarc=pass header.from=victim.com"@evil.com';
  assertEquals(raw(forged, "dmarc=pass header.from=victim.com"), false, "the other field's result may be forged too");
  assertEquals(raw("dmarc=pass header.from=victim.com", FAILED), false);
});
