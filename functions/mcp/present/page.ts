/** A page of a list with as many rows as its text can hold: what is not shown comes with the next page. */
import { type Envelope, type FactEnvelope, MAX_TEXT_CHARACTERS } from "../../../shared/connector/result.ts";
import type { Words } from "../../../shared/words/words.ts";
import { present } from "./present.ts";

/** A list in `data`, with the cursor after each of its rows. */
interface Page {
  list: string;
  cursors: string[];
}

/** What the database answers beside a list for whoever cannot show all of it. */
interface Rest {
  page?: Page;
  /** All that matches, as a file: who may download what. */
  file?: { user_id: string; filter: Record<string, unknown> };
}

/**
 * The result in words, shortened to what fits: rows that were left out are where `next_cursor` continues, and a file is
 * named instead.
 */
export function presentPage(tool: string, { page, file, ...facts }: FactEnvelope & Rest, words: Words): Envelope {
  const whole = present(tool, facts, words);
  if (file) {
    const isWhole = facts.data?.csv.length === facts.total_count && fits(whole);
    return isWhole ? whole : present(tool, { ...facts, data: { file } }, words);
  }
  if (!page || fits(whole)) return whole;
  const { list, cursors } = page;
  const first = (count: number) =>
    present(tool, {
      ...facts,
      data: { ...facts.data, [list]: facts.data?.[list].slice(0, count) },
      next_cursor: cursors[count - 1],
    }, words);
  // The largest count that fits, by halving; one row always does.
  let [low, high] = [1, cursors.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (fits(first(middle))) low = middle;
    else high = middle;
  }
  return first(low);
}

const fits = (envelope: Envelope) => JSON.stringify(envelope).length <= MAX_TEXT_CHARACTERS;
