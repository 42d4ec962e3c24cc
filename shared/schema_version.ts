/**
 * The schema this code was written for: the number of migrations. `public.ping()` returns that of a database. The
 * functions work with this version, the previous and the next one. `deno task db:migration` increments it.
 */
export const SCHEMA_VERSION = 2;
