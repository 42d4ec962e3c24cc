/**
 * IP addresses as bytes. It reads the one plain spelling of each family and nothing that some parser somewhere would also
 * take: no octal, hexadecimal or shortened IPv4, no zone, no brackets, no white space.
 */

/** Four bytes of IPv4 or sixteen of IPv6 in network order; undefined for anything that is not an address. */
export function parseAddress(text: string): Uint8Array | undefined {
  return text.includes(":") ? parseIpv6(text) : parseIpv4(text);
}

function parseIpv4(text: string): Uint8Array | undefined {
  const parts = text.split(".");
  const isPlain = parts.length === 4 && parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256);
  return isPlain ? Uint8Array.from(parts, Number) : undefined;
}

/** RFC 4291 §2.2: eight groups, `::` once for one group of zeros or more, the last four bytes as IPv4 if one likes. */
function parseIpv6(text: string): Uint8Array | undefined {
  const [head = "", tail, ...more] = withoutDots(text)?.split("::") ?? [":"];
  if (more.length > 0) return undefined;
  const first = groupsOf(head);
  const last = groupsOf(tail ?? "");
  if (!first || !last) return undefined;
  const missing = 8 - first.length - last.length;
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined;
  const groups = [...first, ...Array<number>(missing).fill(0), ...last];
  return Uint8Array.from(groups.flatMap((group) => [group >> 8, group & 255]));
}

/** The same address with an IPv4 ending written as two groups. */
function withoutDots(text: string): string | undefined {
  const ending = /[^:]*$/.exec(text)![0];
  if (!ending.includes(".")) return text;
  const [a, b, c, d] = parseIpv4(ending) ?? [];
  if (a === undefined) return undefined;
  return text.slice(0, -ending.length) + `${((a << 8) | b!).toString(16)}:${((c! << 8) | d!).toString(16)}`;
}

function groupsOf(text: string): number[] | undefined {
  if (text === "") return [];
  const groups = text.split(":");
  return groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))
    ? groups.map((group) => parseInt(group, 16))
    : undefined;
}
