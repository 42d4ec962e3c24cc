/** What turns the facts of a digest into a mail: the words of a language, and how a locale writes dates and amounts. */
import type { Format } from "../words/format.ts";
import type { Words } from "../words/words.ts";

export interface Wording {
  words: Words["mails"]["digest"];
  format: Format;
}
