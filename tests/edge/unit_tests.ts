/**
 * Runs the test files that it is given, on Deno 2.1.4, without that Deno's leak checks: a deadline that was not reached
 * counts as a timer left behind there. The same tests run with them on the current one.
 */
const test = Deno.test;
const LENIENT = { sanitizeOps: false, sanitizeResources: false };

// By any of the forms in which a test is declared.
const declare = (...args: unknown[]) => {
  const [first, second, third] = args;
  const definition = typeof first === "object" ? first : { name: first };
  const options = typeof second === "object" ? second : {};
  const fn = [second, third].find((arg) => typeof arg === "function");
  test({ ...definition, ...options, ...(fn !== undefined && { fn }), ...LENIENT } as Deno.TestDefinition);
};
(Deno as { test: unknown }).test = Object.assign(declare, test);

for (const path of Deno.args) await import(`file://${path}`);
