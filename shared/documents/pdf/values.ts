/** Reads the values of a PDF (ISO 32000-1, 7.2 and 7.3): in files, in object streams and in page contents. */
import { type Budget, PdfRefused } from "./budget.ts";

export class Name {
  constructor(readonly name: string) {}
}

/** A reference to an object elsewhere in the file. */
export class Ref {
  constructor(readonly number: number) {}
}

/** An operator of a page, or a word of the file's structure. */
export class Word {
  constructor(readonly word: string) {}
}

export type Dict = Map<string, Value>;
/** Strings contain one character per byte. */
export type Value = null | boolean | number | string | Name | Ref | Word | Value[] | Dict;

const DEEPEST = 40;
const LONGEST_WORD = 200;

const SPACE = new Set([0, 9, 10, 12, 13, 32]);
const isSpace = (code: number) => SPACE.has(code);
/** ( ) < > [ ] { } / % */
const DELIMITERS = new Set([40, 41, 60, 62, 91, 93, 123, 125, 47, 37]);
const isRegular = (code: number) => !isSpace(code) && !DELIMITERS.has(code);

const ESCAPES: Record<string, string> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" };
const CLOSE_ARRAY = new Word("]");
const CLOSE_DICT = new Word(">>");
/** The part of a string without special characters. */
const PLAIN = /[^()\\]*/y;
const OCTAL = /[0-7]{1,3}/y;
const KEYWORDS: Record<string, null | boolean> = { null: null, true: true, false: false };

/** Damage doesn't stop reading; an unreadable value becomes null. */
export class ValueReader {
  /** @param text one character per byte */
  constructor(readonly text: string, readonly budget: Budget, public at = 0) {}

  /** @returns undefined at the end. @throws {PdfRefused} when it is nested too deeply */
  next(depth = 0): Value | undefined {
    this.budget.spend();
    if (depth > DEEPEST) throw new PdfRefused("complex");
    this.#skipSpace();
    const letter = this.text[this.at];
    if (letter === undefined) return undefined;
    if (letter === "/") return new Name(this.#readName());
    if (letter === "(") return this.#readString();
    if (letter === "[") {
      this.at++;
      return this.#readUntil(CLOSE_ARRAY, depth);
    }
    if (letter === "<") {
      if (this.text[this.at + 1] !== "<") return this.#readHex();
      this.at += 2;
      return this.#toDict(this.#readUntil(CLOSE_DICT, depth));
    }
    if (letter === "]") return this.#skip(1, CLOSE_ARRAY);
    if (letter === ">") return this.text[this.at + 1] === ">" ? this.#skip(2, CLOSE_DICT) : this.#skip(1, null);
    if (DELIMITERS.has(letter.charCodeAt(0))) return this.#skip(1, null);
    const word = this.#readWord();
    if (/^[+-]?(\d+\.?\d*|\.\d+)$/.test(word)) return Number(word);
    // Some writers produce two signs, or a sign within a number.
    if (/^[-+.\d]+$/.test(word)) return Number.parseFloat(word.replace(/^[-+]+/, "-")) || 0;
    return Object.hasOwn(KEYWORDS, word) ? KEYWORDS[word]! : new Word(word);
  }

  #skip<Token>(letters: number, token: Token): Token {
    this.at += letters;
    return token;
  }

  #skipSpace(): void {
    for (;;) {
      const code = this.text.charCodeAt(this.at);
      if (isSpace(code)) this.at++;
      else if (code === 37) {
        while (this.at < this.text.length && !/[\r\n]/.test(this.text[this.at]!)) this.at++;
      } else return;
    }
  }

  #readWord(): string {
    const from = this.at;
    while (this.at < this.text.length && isRegular(this.text.charCodeAt(this.at))) this.at++;
    return this.text.slice(from, Math.min(this.at, from + LONGEST_WORD));
  }

  #readName(): string {
    this.at++;
    const name = this.#readWord();
    return name.includes("#")
      ? name.replace(/#([\da-f]{2})/gi, (_, hex) => String.fromCharCode(parseInt(hex, 16)))
      : name;
  }

  /** A reference is two numbers and "R", so only the third token identifies it. */
  #readUntil(end: Word, depth: number): Value[] {
    const values: Value[] = [];
    for (;;) {
      const value = this.next(depth + 1);
      // An unclosed dictionary or array ends with its object.
      if (value === undefined || value === end || value === CLOSE_DICT) return values;
      if (value instanceof Word) {
        if (value.word === "endobj" || value.word === "stream") {
          this.at -= value.word.length;
          return values;
        }
        if (value.word === "R" && values.length > 1) {
          values.pop();
          values.push(refTo(values.pop()!));
          continue;
        }
        if (value === CLOSE_ARRAY) continue;
      }
      values.push(value);
    }
  }

  #toDict(values: Value[]): Dict {
    const dict: Dict = new Map();
    for (let i = 0; i + 1 < values.length; i += 2) {
      const key = values[i]!;
      if (key instanceof Name) dict.set(key.name, values[i + 1]!);
      // If a value is missing, the next key replaces it.
      else i--;
    }
    return dict;
  }

  #readString(): string {
    const parts: string[] = [];
    this.at++;
    for (let depth = 0;;) {
      this.budget.spend();
      PLAIN.lastIndex = this.at;
      const plain = PLAIN.exec(this.text)![0];
      if (plain) parts.push(plain);
      this.at += plain.length;
      const letter = this.text[this.at++];
      if (letter === undefined || letter === ")" && depth-- === 0) return parts.join("");
      if (letter === "(") depth++;
      if (letter !== "\\") {
        parts.push(letter);
        continue;
      }
      OCTAL.lastIndex = this.at;
      const octal = OCTAL.exec(this.text)?.[0];
      const escaped = this.text[this.at] ?? "";
      parts.push(octal ? String.fromCharCode(parseInt(octal, 8) & 255) : ESCAPES[escaped] ?? escaped.trim());
      this.at += octal?.length ?? (this.text.startsWith("\r\n", this.at) ? 2 : 1);
    }
  }

  #readHex(): string {
    const end = this.text.indexOf(">", this.at);
    const digits = this.text.slice(this.at + 1, end < 0 ? this.text.length : end).replace(/[^\da-f]/gi, "");
    this.at = end < 0 ? this.text.length : end + 1;
    return (digits.length % 2 ? `${digits}0` : digits).replace(/../g, (hex) => String.fromCharCode(parseInt(hex, 16)));
  }
}

const refTo = (number: Value): Value => typeof number === "number" ? new Ref(number) : null;

/** Values of a dictionary by kind; undefined for a value of another kind. Never follows a reference. */
export const isDict = (value: unknown): value is Dict => value instanceof Map;
export const nameIn = (value: Value | undefined): string | undefined => value instanceof Name ? value.name : undefined;
