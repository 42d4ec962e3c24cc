/** The words of a language and a locale's formats of dates and amounts, for rendering a digest. */
import type { Format } from "../words/format.ts";
import type { Words } from "../words/words.ts";

export interface Wording {
  words: Words["mails"]["digest"];
  format: Format;
}
