/** The tests of `.ci/run` and of `deno task suite <name> -- --short`; the nightly workflow runs everything. */
export const IS_SHORT = Deno.env.get("SHORT_FORM") === "1";

/** Options of a test that runs only in the full form. */
export const NIGHTLY = { ignore: IS_SHORT };
