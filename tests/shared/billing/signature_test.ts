import { assert, assertEquals, assertFalse, assertRejects } from "@std/assert";
import { createHmac } from "node:crypto";
import { importSecrets, isSigned, signBody } from "../../../shared/billing/signature.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const BODY = bytes('{"event":"subscription.charged", "amount":  1.0}');
const SECRET = "current-secret-of-the-webhook";

Deno.test("signBody() signs as the payment provider does", async () => {
  assertEquals(await signBody(BODY, SECRET), createHmac("sha256", SECRET).update(BODY).digest("hex"));
});

Deno.test("isSigned() accepts only lower-case hex under one of the secrets", async () => {
  const keys = await importSecrets([SECRET, "previous-secret"]);
  const good = await signBody(BODY, SECRET);
  const accepts = (signature: string, body = BODY) => isSigned(body, { signature, keys });

  assert(await accepts(good));
  assert(await accepts(await signBody(BODY, "previous-secret")));
  const wrong: Record<string, string> = {
    "another secret": await signBody(BODY, "another-secret"),
    "uppercase": good.toUpperCase(),
    "one letter uppercase": good.replace(/[a-f]/, (letter) => letter.toUpperCase()),
    "absent": "",
    "short": good.slice(2),
    "long": `${good}00`,
    "sent twice": `${good}, ${good}`,
    "a line break at the end": `${good}\n`,
    "a scheme before it": `sha256=${good}`,
    "a flipped bit": good.slice(0, -1) + (parseInt(good.slice(-1), 16) ^ 1).toString(16),
    "base64": btoa(good),
  };
  for (const [what, signature] of Object.entries(wrong)) assertFalse(await accepts(signature), what);

  const reserialised = bytes(JSON.stringify(JSON.parse(new TextDecoder().decode(BODY))));
  assertFalse(await accepts(good, reserialised), "a reserialized body");
  assertFalse(await accepts(good, BODY.slice(0, -1)), "a truncated body");
});

Deno.test("isSigned() accepts nothing without a secret", async () => {
  assertFalse(await isSigned(BODY, { signature: await signBody(BODY, SECRET), keys: [] }));
  await assertRejects(() => importSecrets([""]), DOMException);
});
