/** Iterates over pages; stops in loops and on endless paging. */
import { ProviderError } from "./provider_error.ts";

const MAX_PAGES = 50;

/**
 * The cursor of the next page, if any.
 * @throws {ProviderError} `bad_shape` for a next page without a cursor.
 */
export function nextCursor(
  { has_more, next_page }: { has_more: boolean; next_page?: string | null },
): string | undefined {
  if (!has_more) return undefined;
  if (!next_page) throw new ProviderError("bad_shape", "There is a next page but no cursor for it");
  return next_page;
}

/**
 * @param first identifies the first page: its URL, or any name.
 * @param read reads a page and returns the id of the next one.
 * @returns the number of pages.
 * @throws {ProviderError} `bad_shape`, or whatever `read` throws.
 */
export async function readPages(
  first: string,
  read: (page: string) => Promise<string | null | undefined>,
): Promise<number> {
  const seen = new Set<string>();
  for (let page: string | null | undefined = first; page; page = await read(page)) {
    if (seen.has(page)) throw new ProviderError("bad_shape", "The pages form a loop");
    if (seen.size === MAX_PAGES) throw new ProviderError("bad_shape", `There are more than ${MAX_PAGES} pages`);
    seen.add(page);
  }
  return seen.size;
}
