/** Reads the header of a mail (RFC 5322 §2.2), in linear time. */

export interface Field {
  /** In lower case. */
  name: string;
  /** Unfolded. */
  value: string;
}

const MAX_BYTES = 256 * 1024;

/**
 * @returns the fields in order, the newest first, because every server adds its fields at the top; none for a header
 * over 256 KB, whose end might contain a second From.
 */
export function readMailHeader(mail: Uint8Array): Field[] {
  const lines = new TextDecoder().decode(mail.subarray(0, MAX_BYTES)).split("\n");
  const isCut = mail.length > MAX_BYTES;
  // The header may be cut in the middle of its last line.
  if (isCut) lines.pop();
  const fields: Field[] = [];
  for (const line of lines) {
    const plain = line.endsWith("\r") ? line.slice(0, -1) : line;
    if (plain === "") return fields;
    const last = fields.at(-1);
    if (plain.startsWith(" ") || plain.startsWith("\t")) {
      if (last) last.value += ` ${plain.trim()}`;
      continue;
    }
    const colon = plain.indexOf(":");
    if (colon > 0) {
      fields.push({ name: plain.slice(0, colon).trim().toLowerCase(), value: plain.slice(colon + 1).trim() });
    }
  }
  return isCut ? [] : fields;
}

/** @returns the fields that servers added after the mail left its sender, above the first hop's trace (RFC 5321 §4.4). */
export function aboveFirstHop(fields: readonly Field[]): Field[] {
  const first = fields.findIndex(({ name, value }) => name === "received" && /^from\s/i.test(value));
  return fields.slice(0, Math.max(first, 0));
}

export const valuesOf = (fields: readonly Field[], name: string): string[] =>
  fields.filter((field) => field.name === name).map(({ value }) => value);
