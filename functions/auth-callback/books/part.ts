/** Properties that every section of the page of the books gets. */
import type { Glance } from "../../../shared/books/glance.ts";
import type { Reader } from "../../../shared/words/reader.ts";

export interface Part {
  glance: Glance;
  /** The reader's address. */
  me: string;
  /** The token of forms. */
  token: string;
  reader: Reader;
}
