/** A stored credential can be opened only for its own link and with our key. */
import { assert, assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import { Buffer } from "node:buffer";
import { type Envelope, EnvelopeError, openCredential, sealCredential } from "../../../shared/credentials/envelope.ts";

const key = (letter: string) => btoa(letter.repeat(32));
const KEY = key("a");
const LINK = "lnk_00000000000a";
const CREDENTIAL = { token: "canary-üñí-credential", account: "42" };

async function assertClosed(opening: Promise<unknown>, reason: EnvelopeError["reason"]): Promise<void> {
  const error = await assertRejects(() => opening, EnvelopeError);
  assertEquals(error.reason, reason);
  assertEquals(error.cause, undefined);
}

/** The envelope with one bit of a base64 part flipped. */
function flipped(envelope: Envelope, part: "nonce" | "data", at: number): Envelope {
  const bytes = Uint8Array.from(atob(envelope[part]), (char) => char.charCodeAt(0));
  bytes[at]! ^= 1;
  return { ...envelope, [part]: btoa(String.fromCharCode(...bytes)) };
}

Deno.test("openCredential() decrypts the link's credential", async () => {
  const envelope = await sealCredential([KEY], LINK, CREDENTIAL);
  assertEquals(await openCredential([KEY], LINK, envelope), CREDENTIAL);
});

Deno.test("sealCredential() makes an envelope that names its key and algorithm, and reveals nothing of its content", async () => {
  const envelope = await sealCredential([KEY], LINK, CREDENTIAL);
  assertEquals(Object.keys(envelope).toSorted(), ["alg", "data", "key_id", "nonce"]);
  const digest = Buffer.from(await crypto.subtle.digest("SHA-256", new TextEncoder().encode("a".repeat(32)))).toString(
    "hex",
  );
  assertEquals(envelope.key_id, digest.slice(0, 8));
  assertEquals(envelope.alg, "aes-gcm-hkdf");
  assertEquals(atob(envelope.nonce).length, 12);
  // The text and the 16 bytes of the tag.
  assertEquals(atob(envelope.data).length, new TextEncoder().encode(JSON.stringify(CREDENTIAL)).length + 16);
  const text = JSON.stringify(envelope) + atob(envelope.data);
  for (const part of ["canary", "token", KEY, LINK]) assert(!text.includes(part), part);
});

Deno.test("openCredential() opens an envelope from another implementation", async () => {
  // HKDF (RFC 5869) spelled out with HMAC: extract with a zero salt, expand one block with the info.
  const hmac = async (secret: Uint8Array<ArrayBuffer>, text: Uint8Array<ArrayBuffer>) => {
    const imported = await crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
    return new Uint8Array(await crypto.subtle.sign("HMAC", imported, text));
  };
  const utf8 = (text: string) => new TextEncoder().encode(text);
  const extracted = await hmac(new Uint8Array(32), utf8("a".repeat(32)));
  const derived = await hmac(extracted, utf8(`${LINK}\x01`));
  const aes = await crypto.subtle.importKey("raw", derived, "AES-GCM", false, ["encrypt"]);
  const iv = new Uint8Array(12).fill(7);
  const data = await crypto.subtle.encrypt({ name: "AES-GCM", iv }, aes, utf8(`{"token":"t"}`));
  const { key_id, alg } = await sealCredential([KEY], LINK, {});
  const base64 = (bytes: Uint8Array) => btoa(String.fromCharCode(...bytes));
  const envelope = { key_id, alg, nonce: base64(iv), data: base64(new Uint8Array(data)) };
  assertEquals(await openCredential([KEY], LINK, envelope), { token: "t" });
});

Deno.test("openCredential() refuses an envelope that was made for another link", async () => {
  const envelope = await sealCredential([KEY], LINK, CREDENTIAL);
  await assertClosed(openCredential([KEY], "lnk_00000000000b", envelope), "unreadable");
  await assertClosed(openCredential([KEY], "", envelope), "unreadable");
});

Deno.test("openCredential() refuses an envelope with any byte flipped", async () => {
  const envelope = await sealCredential([KEY], LINK, CREDENTIAL);
  for (let at = 0; at < 12; at++) {
    await assertClosed(openCredential([KEY], LINK, flipped(envelope, "nonce", at)), "unreadable");
  }
  for (let at = 0; at < atob(envelope.data).length; at++) {
    await assertClosed(openCredential([KEY], LINK, flipped(envelope, "data", at)), "unreadable");
  }
});

Deno.test("openCredential() refuses unknown keys, and another key under the same id", async () => {
  const envelope = await sealCredential([KEY], LINK, CREDENTIAL);
  await assertClosed(openCredential([key("b")], LINK, envelope), "unknown_key");
  await assertClosed(openCredential([], LINK, envelope), "unknown_key");
  const { key_id } = await sealCredential([key("b")], LINK, CREDENTIAL);
  await assertClosed(openCredential([KEY, key("b")], LINK, { ...envelope, key_id }), "unreadable");
});

Deno.test("openCredential() rejects anything but an envelope", async () => {
  const envelope = await sealCredential([KEY], LINK, CREDENTIAL);
  const { data: _, ...withoutData } = envelope;
  const wrong = [
    null,
    undefined,
    "text",
    {},
    withoutData,
    { ...envelope, alg: "none" },
    { ...envelope, nonce: "" },
    { ...envelope, data: "*" },
    { ...envelope, data: 1 },
  ];
  for (const one of wrong) await assertClosed(openCredential([KEY], LINK, one), "unreadable");
});

Deno.test("an old key still opens envelopes after rotation, until they are encrypted again", async () => {
  const old = await sealCredential([KEY], LINK, CREDENTIAL);
  const rotated = [key("b"), KEY];
  const renewed = await sealCredential(rotated, LINK, await openCredential(rotated, LINK, old));
  assertNotEquals(renewed.key_id, old.key_id);
  // The old key can now be removed.
  assertEquals(await openCredential([key("b")], LINK, renewed), CREDENTIAL);
  await assertClosed(openCredential([key("b")], LINK, old), "unknown_key");
});

Deno.test("sealCredential() never uses a nonce twice", async () => {
  const envelopes = await Promise.all(Array.from({ length: 2000 }, () => sealCredential([KEY], LINK, CREDENTIAL)));
  assertEquals(new Set(envelopes.map(({ nonce }) => nonce)).size, envelopes.length);
  assertEquals(new Set(envelopes.map(({ data }) => data)).size, envelopes.length);
});

Deno.test("sealCredential() refuses to run without a key", async () => {
  await assertRejects(() => sealCredential([], LINK, CREDENTIAL), Error, "CREDENTIALS_KEY is not set");
});
