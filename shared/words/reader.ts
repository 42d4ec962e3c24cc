/** The reader of a page: their language and their formats of dates and numbers. */
import type { PageFormat } from "./page_format.ts";
import type { Catalog, PageWords } from "./page_words.ts";

export interface Reader {
  /** BCP 47, of the words. */
  language: string;
  words: PageWords;
  /** The whole catalog in that language, for texts that pages share with tools. */
  catalog: Catalog;
  format: PageFormat;
}
