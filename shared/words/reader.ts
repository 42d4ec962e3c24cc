/** The reader of a page: their language and their formats of dates and numbers. */
import type { PageFormat } from "./page_format.ts";
import type { Words } from "./words.ts";

export interface Reader {
  /** BCP 47, of the words. */
  language: string;
  words: Words["pages"];
  /** The whole catalog in that language, for texts that pages share with tools. */
  catalog: Words;
  format: PageFormat;
}
