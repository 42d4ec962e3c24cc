/** Files that other services read: icons of the connector, and the proof of the domain for OpenAI. */
import { assert, assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { inflateSync } from "node:zlib";
import { iconSvg } from "../../../shared/pages/icon.ts";
import { ICON_FILES } from "../../../shared/pages/icon_files.ts";
import { sha256 } from "../../../shared/std/sha256.ts";
import { answering, createPages } from "./harness.ts";

const CHALLENGE = "/.well-known/openai-apps-challenge";

Deno.test("every icon may be cached for a year and shown on other sites", async () => {
  const browser = createPages(answering({})).browser();
  for (const { name, type } of ICON_FILES) {
    const response = await browser.get(`/icons/${name}`);
    assertEquals([response.status, response.headers.get("content-type")], [200, type]);
    assertEquals(response.headers.get("cache-control"), "public, max-age=31536000, immutable");
    assertEquals(response.headers.get("cross-origin-resource-policy"), "cross-origin");
    assert((await response.arrayBuffer()).byteLength > 100);
  }
  assertEquals((await browser.get("/icons/light.svg")).status, 404);
});

Deno.test("an icon's name contains the hash of its bytes, and the SVGs are the pages' icon in other colors", () => {
  for (const { name, type, theme, base64 } of ICON_FILES) {
    const bytes = Buffer.from(base64, "base64");
    assertEquals(name.slice(0, -4), `${theme}-${sha256(bytes).toString("hex").slice(0, 16)}`);
    if (type === "image/svg+xml") assertEquals(bytes.toString(), iconSvg(theme === "light" ? "#0b5f4c" : "#74d0b4"));
  }
});

Deno.test("the PNG icons show the two rules of the SVG", () => {
  for (const { base64 } of ICON_FILES.filter(({ type }) => type === "image/png")) {
    const png = Buffer.from(base64, "base64");
    const data = png.indexOf("IDAT");
    const rows = inflateSync(png.subarray(data + 4, data + 4 + png.readUInt32BE(data - 4)));
    const isDrawn = (x: number, y: number) => (rows[y * 65 + 1 + (x >> 3)]! >> (7 - (x & 7))) & 1;
    const edges = [[95, 64], [96, 63], [96, 64], [415, 159], [416, 159], [415, 160], [96, 352], [415, 447], [415, 448]];
    assertEquals(edges.map(([x, y]) => isDrawn(x!, y!)), [0, 0, 1, 1, 0, 0, 1, 1, 0]);
  }
});

Deno.test("the proof for OpenAI is served unchanged, and is not found when unset", async () => {
  const set = createPages(answering({}), { openaiAppsChallenge: "abc_DEF-123" }).browser();
  const response = await set.get(CHALLENGE);
  assertEquals([response.status, await response.text()], [200, "abc_DEF-123"]);
  assert(response.headers.get("content-type")!.startsWith("text/plain"));
  assertEquals((await createPages(answering({})).browser().get(CHALLENGE)).status, 404);
});
