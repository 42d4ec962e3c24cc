/**
 * The schema that this code was written for: how many migrations there are. `public.ping()` answers with that of a database; the functions work
 * with it, with the one before it and with the one after it. `deno task db:migration` counts up.
 */
export const SCHEMA_VERSION = 1;
