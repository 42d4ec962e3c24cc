/** Shortens an address so that its owner knows it and nobody else learns it. */

/** "a…@e….com" of anna@example.com. */
export function maskAddress(address: string): string {
  const at = address.lastIndexOf("@");
  const host = address.slice(at + 1);
  const dot = host.lastIndexOf(".");
  return `${first(address)}…@${first(host)}…${dot > 0 ? host.slice(dot) : ""}`;
}

const first = (text: string): string => [...text][0] ?? "";
