import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");

/** Runs a full garbage collection of this isolate, so that the heap is what is really held. */
export const collectGarbage: () => void = runInNewContext("gc");
