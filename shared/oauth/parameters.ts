/**
 * Reads OAuth parameters from a query or a form (RFC 6749 §3.1, §3.2): each at most once, empty means absent, unknown
 * ones are ignored.
 */

export type OAuthParameters<Name extends string> =
  | { ok: true; values: Partial<Record<Name, string>> }
  | { ok: false; repeated: Name };

/** Repeated parameters are rejected, because two parsers might use different ones. */
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
