import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");

/**
 * Runs a full garbage collection, so that the heap contains only live objects; undefined on runtimes without it (Deno
 * 2.1).
 */
export const collectGarbage: (() => void) | undefined = runInNewContext("globalThis.gc");
