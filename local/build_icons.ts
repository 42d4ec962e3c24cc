/**
 * `deno task build`: draws the site icon for light and dark backgrounds, as SVG and PNG, into a module that the
 * functions serve. A test rebuilds and compares it.
 */
import { Buffer } from "node:buffer";
import { crc32, deflateSync } from "node:zlib";
import { iconSvg, RULES } from "../shared/pages/icon.ts";
import { sha256 } from "../shared/std/sha256.ts";

export const ICONS_MODULE = new URL("../shared/pages/icon_files.ts", import.meta.url);

/** The accents of the pages (`shared/pages/styles.ts`). */
const COLORS = { light: "#0b5f4c", dark: "#74d0b4" } as const;
const PNG_SIZE = 512;

export function buildIcons(): string {
  const files = (["light", "dark"] as const).flatMap((theme) => [
    file({ theme, type: "image/svg+xml", sizes: "any", ending: "svg" }, Buffer.from(iconSvg(COLORS[theme]))),
    file({ theme, type: "image/png", sizes: `${PNG_SIZE}x${PNG_SIZE}`, ending: "png" }, drawPng(COLORS[theme])),
  ]);
  return `/** The icon's files, built by \`deno task build\`; do not edit. Their names change with their bytes. */
// deno-fmt-ignore
export const ICON_FILES = [
${files.map((entry) => `  ${JSON.stringify(entry)},\n`).join("")}] as const;
`;
}

function file(
  { ending, ...about }: { theme: "light" | "dark"; type: string; sizes: string; ending: string },
  bytes: Uint8Array,
) {
  const name = `${about.theme}-${sha256(bytes).toString("hex").slice(0, 16)}.${ending}`;
  return { name, ...about, base64: Buffer.from(bytes).toString("base64") };
}

/** One bit a pixel: transparent, or the color (PNG §11.2). */
function drawPng(color: string): Buffer {
  const scale = PNG_SIZE / 16;
  const rows = Array.from({ length: PNG_SIZE }, (_, y) => {
    const row = Buffer.alloc(1 + PNG_SIZE / 8);
    for (const { x, y: top, width, height } of RULES) {
      if (y >= top * scale && y < (top + height) * scale) {
        row.fill(0xff, 1 + x * scale / 8, 1 + (x + width) * scale / 8);
      }
    }
    return row;
  });
  const header = Buffer.alloc(13);
  header.writeUInt32BE(PNG_SIZE, 0);
  header.writeUInt32BE(PNG_SIZE, 4);
  header.set([1, 3], 8);
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", header),
    chunk("PLTE", Buffer.from(`ffffff${color.slice(1)}`, "hex")),
    chunk("tRNS", Buffer.from([0, 255])),
    chunk("IDAT", deflateSync(Buffer.concat(rows), { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, checksum]);
}

if (import.meta.main) await Deno.writeTextFile(ICONS_MODULE, buildIcons());
