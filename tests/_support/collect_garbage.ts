import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");

/**
 * Runs a full garbage collection of this isolate, so that the heap is what is really held; undefined on runtimes that
 * cannot be asked for one (Deno 2.1).
 */
export const collectGarbage: (() => void) | undefined = runInNewContext("globalThis.gc");
