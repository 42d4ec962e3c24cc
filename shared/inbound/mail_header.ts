/** Reads the header of a mail (RFC 5322 §2.2), in linear time. */

export interface Field {
  /** Lower case. */
  name: string;
  /** Unfolded. */
  value: string;
}

const MAX_BYTES = 256 * 1024;

/** The fields in their order, the newest first: every server adds its own at the top. */
export function readMailHeader(mail: Uint8Array): Field[] {
  const text = new TextDecoder().decode(mail.subarray(0, MAX_BYTES));
  const fields: Field[] = [];
  for (const line of text.split("\n")) {
    const plain = line.endsWith("\r") ? line.slice(0, -1) : line;
    if (plain === "") break;
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
  return fields;
}

/** What servers added after the mail left its sender: the fields above the trace of the first hop (RFC 5321 §4.4). */
export function aboveFirstHop(fields: readonly Field[]): Field[] {
  const first = fields.findIndex(({ name, value }) => name === "received" && /^from\s/i.test(value));
  return fields.slice(0, Math.max(first, 0));
}

export const valuesOf = (fields: readonly Field[], name: string): string[] =>
  fields.filter((field) => field.name === name).map(({ value }) => value);
