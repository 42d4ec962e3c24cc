/**
 * Runs the given test files on Deno 2.1.4 without its leak checks, because that version counts an unreached deadline
 * as a leaked timer. The same tests run with leak checks on the current Deno.
 */
const test = Deno.test;
const LENIENT = { sanitizeOps: false, sanitizeResources: false };

// Any form of test declaration.
const declare = (...args: unknown[]) => {
  const [first, second, third] = args;
  const definition = typeof first === "object" ? first : { name: first };
  const options = typeof second === "object" ? second : {};
  const fn = [second, third].find((arg) => typeof arg === "function");
  test({ ...definition, ...options, ...(fn !== undefined && { fn }), ...LENIENT } as Deno.TestDefinition);
};
(Deno as { test: unknown }).test = Object.assign(declare, test);

for (const path of Deno.args) await import(`file://${path}`);
