/** Reads an e-invoice in XML. */
import type { DocumentFacts } from "../facts.ts";
import { readEn16931 } from "./read_en16931.ts";
import { readFattura } from "./read_fattura.ts";
import { CII, UBL } from "./syntax.ts";

/** The root element of each syntax, with any prefix. */
const READERS: [root: RegExp, (text: string) => DocumentFacts | undefined][] = [
  [/<(\w{1,20}:)?(Invoice|CreditNote)[\s>]/, (text) => readEn16931(text, UBL)],
  [/<(\w{1,20}:)?CrossIndustry(Invoice|Document)[\s>]/, (text) => readEn16931(text, CII)],
  [/<(\w{1,20}:)?FatturaElettronica[\s>]/, readFattura],
];
/** Comments and style sheets may precede the root. */
const START = 4000;

/** @returns undefined when the text is not an e-invoice */
export function readXml(text: string): DocumentFacts | undefined {
  const start = text.slice(0, START);
  return READERS.find(([root]) => root.test(start))?.[1](text);
}
