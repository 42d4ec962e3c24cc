/** Goes from page to page, and stops where pages lead in circles or do not end. */
import { ProviderError } from "./provider_error.ts";

const MOST_PAGES = 50;

/**
 * The cursor of the next page, where there is one.
 * @throws {ProviderError} `bad_shape` when there is more and no way to it.
 */
export function nextCursor(
  { has_more, next_page }: { has_more: boolean; next_page?: string | null },
): string | undefined {
  if (!has_more) return undefined;
  if (!next_page) throw new ProviderError("bad_shape", "There is a next page, and nothing to ask for it by");
  return next_page;
}

/**
 * @param first names the first page: an address, or nothing but a name of ours for it.
 * @param read what is on a page; answers the name of the next one.
 * @returns how many there were.
 * @throws {ProviderError} `bad_shape`, or whatever `read` does.
 */
export async function readPages(
  first: string,
  read: (page: string) => Promise<string | null | undefined>,
): Promise<number> {
  const seen = new Set<string>();
  for (let page: string | null | undefined = first; page; page = await read(page)) {
    if (seen.has(page)) throw new ProviderError("bad_shape", "The pages lead in circles");
    if (seen.size === MOST_PAGES) throw new ProviderError("bad_shape", `There are more than ${MOST_PAGES} pages`);
    seen.add(page);
  }
  return seen.size;
}
