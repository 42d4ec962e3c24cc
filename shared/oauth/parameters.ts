/** OAuth parameters out of a query or a form (RFC 6749 §3.1, §3.2): each at most once, an empty one counts as not sent, others are ignored. */

export type OAuthParameters<Name extends string> =
  | { ok: true; values: Partial<Record<Name, string>> }
  | { ok: false; repeated: Name };

/** A repeated parameter is refused, since two readers of one request may each see another value of it. */
export function readParameters<Name extends string>(
  source: URLSearchParams,
  names: readonly Name[],
): OAuthParameters<Name> {
  const values: Partial<Record<Name, string>> = {};
  for (const name of names) {
    const [value, ...more] = source.getAll(name);
    if (more.length > 0) return { ok: false, repeated: name };
    if (value) values[name] = value;
  }
  return { ok: true, values };
}
