/** The one statement that PostgREST sends for a call: the function's types parse the arguments from a JSON object. */

export interface Signature {
  name: string;
  names: string[] | null;
  types: string[];
  returns_set: boolean;
}

/** The functions of schema public. */
export const SIGNATURES = `
  select proname as name, proargnames[:pronargs] as names,
    array(select format_type(t, null) from unnest(proargtypes) with ordinality as a (t, n) order by n) as types,
    proretset as returns_set
  from pg_proc where pronamespace = 'public'::regnamespace`;

/** @param passed names of the passed arguments; the others keep their defaults. */
export function statementOf({ name, names, types, returns_set }: Signature, passed: readonly string[]): string {
  const typeOf = (argument: string) => types[names?.indexOf(argument) ?? -1] ?? "text";
  const args = passed.map((one) => `"${one}" => args."${one}"`).join(", ");
  const columns = passed.map((one) => `"${one}" ${typeOf(one)}`).join(", ");
  const from = columns ? `json_to_record($1::text::json) as args (${columns})` : "(select $1::text) as args";
  const result = returns_set ? "coalesce(json_agg(r), '[]')" : "to_json(r)";
  return `select ${result}::text as result from (select public."${name}"(${args}) as r from ${from}) as called`;
}
