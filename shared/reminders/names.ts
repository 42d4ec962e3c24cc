/**
 * Names in a digest. Members choose them and other people read them, so no name may look like our own words or become
 * a link.
 */
import { legibleName } from "../words/strangers_name.ts";

const LONGEST = 40;
const LONGEST_LINE = 120;
const NOTHING = "…";
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/** A name that stands alone: on a line of a list, in a heading, in a link. */
export const nameAlone = (name: string): string => legibleName(name, LONGEST_LINE) || NOTHING;

/**
 * A name inside a sentence, in quotation marks. Right-to-left names are isolated from the surrounding text (UAX #9).
 */
export const quotedName = (name: string): string => isolated(`“${legibleName(name, LONGEST) || NOTHING}”`);

/** A name inside words that are themselves in quotation marks. */
export const innerName = (name: string): string => isolated(`‘${legibleName(name, LONGEST) || NOTHING}’`);

const isolated = (text: string): string => RIGHT_TO_LEFT.test(text) ? `\u2068${text}\u2069` : text;
