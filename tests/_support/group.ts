/**
 * Groups test files in one process, so they load common modules only once. Test names contain their path, and a file's
 * hooks apply only to its own tests.
 */
import { runInThisContext } from "node:vm";

type Hook = () => unknown;
const KINDS = ["beforeAll", "beforeEach", "afterEach", "afterAll"] as const;
type Hooks = Record<typeof KINDS[number], Hook[]>;
type Run = (t: Deno.TestContext) => void | Promise<void>;

interface File {
  path: string;
  hooks: Hooks;
  /** Tests that have not ended. */
  left: number;
  hasBegun: boolean;
}

const real = Deno.test;
const setTest = (test: typeof Deno.test) => Object.assign(Deno, { test });

/** @param paths from the project's root, which is `root` */
export async function loadGroup(root: string, paths: readonly string[]): Promise<void> {
  const files: File[] = [];
  for (const path of paths) {
    const file: File = {
      path,
      hooks: { beforeAll: [], beforeEach: [], afterEach: [], afterAll: [] },
      left: 0,
      hasBegun: false,
    };
    files.push(file);
    setTest(testOf(file, new URL(path, root).href));
    await import(new URL(path, root).href);
  }
  setTest(real);
  // Closes files whose last tests were filtered out.
  real.afterAll(async () => {
    for (const { hooks, hasBegun, left } of files) {
      if (hasBegun && left > 0) { for (const hook of hooks.afterAll) await hook(); }
    }
  });
}

/** Deno reports the caller of `Deno.test` as the test's location, unless the caller's script has such a name. */
const notSeen: (test: typeof Deno.test, change: (args: unknown[]) => unknown[]) => typeof Deno.test = runInThisContext(
  "(test, change) => function (...args) { return test(...change(args)); }",
  { filename: "ext:tests/group.js" },
);

function testOf(file: File, url: string): typeof Deno.test {
  const test = notSeen(real, (args) => {
    file.left++;
    const name = (name: string) => `${file.path} => ${name}`;
    return args.map((arg) => {
      if (typeof arg === "string") return name(arg);
      if (typeof arg === "function") return inFile(file, arg as Run);
      const { fn, ...options } = arg as Deno.TestDefinition;
      return { ...options, ...(options.name && { name: name(options.name) }), ...(fn && { fn: inFile(file, fn) }) };
    });
  });
  const hooks = KINDS.map((kind) => [kind, (hook: Hook) => {
    // A shared file opens its database for all its importers.
    const isOwn = new Error().stack!.includes(url);
    if (isOwn) file.hooks[kind].push(hook);
    else if (kind === "afterAll") real.afterAll(hook as () => void);
    else throw new Error(`${kind} in a file that others import: call it from the test file (${file.path})`);
  }]);
  return Object.assign(test, { ignore: real.ignore, only: real.only }, Object.fromEntries(hooks));
}

function inFile(file: File, run: Run): Run {
  const { beforeAll, beforeEach, afterEach, afterAll } = file.hooks;
  return async (t) => {
    if (!file.hasBegun) {
      file.hasBegun = true;
      for (const hook of beforeAll) await hook();
    }
    try {
      for (const hook of beforeEach) await hook();
      await run(t);
    } finally {
      for (const hook of afterEach) await hook();
      file.left--;
      if (file.left === 0) { for (const hook of afterAll) await hook(); }
    }
  };
}
