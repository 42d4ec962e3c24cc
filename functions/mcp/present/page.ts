/** A page of a list with as many rows as fit the answer; the next page continues after them. */
import { type Envelope, type FactEnvelope, MAX_TEXT_CHARACTERS } from "../../../shared/connector/result.ts";
import type { Words } from "../../../shared/words/words.ts";
import { present } from "./present.ts";

/** A list in `data`, with the cursor after each of its rows. */
interface Page {
  list: string;
  cursors: string[];
}

/** Fields that the database returns with a list, for an answer that shows only part of it. */
interface Rest {
  page?: Page;
  /** The file of all matches: its query and the person who may download it. */
  file?: { user_id: string; filter: Record<string, unknown> };
}

/**
 * The result in words, shortened to fit. `next_cursor` continues with the first omitted row; an answer without the
 * rows contains the link to a file.
 */
export function presentPage(tool: string, { page, file, ...facts }: FactEnvelope & Rest, words: Words): Envelope {
  const whole = present(tool, facts, words);
  if (file) {
    const isWhole = (facts.data?.csv as unknown[] | undefined)?.length === facts.total_count && fits(whole);
    const { next_cursor: _, ...summary } = facts;
    return isWhole ? whole : present(tool, { ...summary, data: { file } }, words);
  }
  if (!page || fits(whole)) return whole;
  const { list, cursors } = page;
  const first = (count: number) =>
    present(tool, {
      ...facts,
      data: { ...facts.data, [list]: (facts.data?.[list] as unknown[]).slice(0, count) },
      next_cursor: cursors[count - 1],
    }, words);
  // The largest count that fits, found by halving; one row always fits.
  let [low, high] = [1, cursors.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (fits(first(middle))) low = middle;
    else high = middle;
  }
  return first(low);
}

const fits = (envelope: Envelope) => JSON.stringify(envelope).length <= MAX_TEXT_CHARACTERS;
