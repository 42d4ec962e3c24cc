/** Determines a line's kind from the values in a known export. */
import { plainHeader } from "../header_words.ts";
import { plainText } from "../kinds.ts";
import type { Layout } from "../layouts/layout.ts";
import type { Kind } from "../statement.ts";
import { lookUp } from "./look_up.ts";

type Values = Partial<Record<Kind, string>>;

/** The kind of a line by its layout's values, or by parts of a value. */
export interface LayoutKinds {
  ofType(type: string): Kind | undefined;
  ofCategory(category: string): Kind | undefined;
  /** By the beginning of one of the texts. */
  ofTexts(texts: readonly string[]): Kind | undefined;
}

export function kindsOfLayout(
  { types, categories, texts }: Pick<Layout, "types" | "categories" | "texts">,
): LayoutKinds {
  const starts = entries(texts);
  return {
    ofType: kindOf(types, plainHeader),
    ofCategory: kindOf(categories, plainText),
    ofTexts: (all) => {
      if (starts.length === 0) return undefined;
      for (const text of all) {
        const plain = text && `${plainText(text)} `;
        const found = plain && starts.find(([start]) => plain.startsWith(`${start} `));
        if (found) return found[1];
      }
      return undefined;
    },
  };
}

const entries = (values: Values = {}): [value: string, kind: Kind][] =>
  Object.entries(values).flatMap(([kind, words]) =>
    words.split("|").map((word): [string, Kind] => [word, kind as Kind])
  );

/** The first matching value decides the kind. */
function kindOf(values: Values | undefined, plain: (cell: string) => string): (cell: string) => Kind | undefined {
  const kinds = new Map(entries(values).reverse());
  if (kinds.size === 0) return () => undefined;
  return lookUp((cell) => kinds.get(plain(cell)));
}
