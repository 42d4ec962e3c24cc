/** The database's error codes, with the part that a client sees and their words. */
import type { EffectFormat } from "./effect_format.ts";
import type { Told } from "./facts.ts";

/**
 * The message of a code. A newer database may return codes that have no words in this version; they get the words of
 * `unknown`.
 */
export const findWords = <Said>(messages: object, code: string, unknown: (code: string) => Said) =>
  (messages as Record<string, ((facts: Told, format?: EffectFormat) => Said) | undefined>)[code] ??
    (() => unknown(code));

/** The first part of a code, which clients see; the whole code selects the words. */
export const publicCode = (code: string): string => code.split(".")[0]!;
