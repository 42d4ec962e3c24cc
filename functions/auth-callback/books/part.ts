/** Properties that every section of the books page receives. */
import type { Glance } from "../../../shared/books/glance.ts";
import type { Reader } from "../../../shared/words/reader.ts";

export interface Part {
  glance: Glance;
  /** The reader's address. */
  me: string;
  /** The form token. */
  token: string;
  reader: Reader;
}
