/**
 * The schema version that this code requires: the number of migrations. `public.ping()` returns a database's version.
 * The functions work with this version, the previous and the next one. `deno task db:migration` increments it.
 */
export const SCHEMA_VERSION = 2;
