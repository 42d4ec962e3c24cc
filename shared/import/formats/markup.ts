/** Parses a tagged document into elements. Passes frequent elements on one by one and then drops them. */
import { decodeEntities, scanMarkup } from "./scan_markup.ts";

/** An element: its text, or its children by name. */
export interface Element {
  name: string;
  line: number;
  text: string;
  attributes: string;
  children: Element[];
}

/** Deeper than any statement; a deeper document is an attack. */
const MAX_DEPTH = 60;

interface Options {
  /** Values end at the next tag. */
  isSgml: boolean;
  /** Receives the complete elements of a name, with their ancestors. @returns false to stop */
  each?: Record<string, (element: Element, around: readonly Element[]) => boolean | void>;
  /** The maximum number of elements in memory at the same time. */
  most?: number;
  /** Aliases of names. */
  renamed?: ReadonlyMap<string, string>;
}

/** @returns undefined for a text in another format */
export function readMarkup(
  text: string,
  { isSgml, each = {}, most = Infinity, renamed }: Options,
): Element | undefined {
  const root: Element = { name: "", line: 1, text: "", attributes: "", children: [] };
  const open = [root];
  const lineAt = lineCounter(text);
  let kept = 0;
  /** The number of elements in memory at the start of each open one. */
  const keptBefore = [0];
  /** Closes the open elements down to a depth. */
  const closeTo = (depth: number): boolean => {
    while (open.length > depth) {
      const element = open.pop()!;
      const before = keptBefore.pop()!;
      const take = Object.hasOwn(each, element.name) ? each[element.name] : undefined;
      if (!take) continue;
      open.at(-1)!.children.pop();
      kept = before;
      if (take(element, open) === false) return false;
    }
    return true;
  };
  const isRead = scanMarkup(text, {
    open(written, attributes, value, isEmpty, at) {
      const name = isSgml ? written.toUpperCase() : renamed?.get(written) ?? written;
      // In SGML, an element of a list may end where the next begins.
      const before = isSgml && Object.hasOwn(each, name) ? open.findLastIndex((one) => one.name === name) : -1;
      if (before > 0 && !closeTo(before)) return false;
      const element: Element = {
        name,
        line: lineAt(at),
        text: decodeEntities(value.trim()),
        attributes,
        children: [],
      };
      open.at(-1)!.children.push(element);
      open.push(element);
      keptBefore.push(kept);
      if (++kept > most) return false;
      // In SGML, the next tag closes an element with a value.
      if (isEmpty || (isSgml && element.text !== "")) return closeTo(open.length - 1);
      return open.length <= MAX_DEPTH;
    },
    // Closes the innermost element of that name. In SGML, an element with a value is already closed.
    close(written) {
      const name = isSgml ? written.toUpperCase() : renamed?.get(written) ?? written;
      const index = open.findLastIndex((element) => element.name === name);
      if (index > 0) return closeTo(index);
      if (!isSgml && open.length > 1) return closeTo(open.length - 1);
    },
    verbatim(value) {
      open.at(-1)!.text += value;
    },
  });
  return isRead && closeTo(1) ? root : undefined;
}

/** Computes line numbers for positions that only increase. */
function lineCounter(text: string): (at: number) => number {
  let [line, next] = [1, text.indexOf("\n")];
  return (at) => {
    while (next >= 0 && next < at) {
      line++;
      next = text.indexOf("\n", next + 1);
    }
    return line;
  };
}

export const childOf = ({ children }: Element, name: string): Element | undefined =>
  children.find((child) => child.name === name);

export const childrenOf = ({ children }: Element, name: string): Element[] =>
  children.filter((child) => child.name === name);

/** The element at a path, such as "Acct/Id/IBAN". */
export function find(element: Element, path: string): Element | undefined {
  let found: Element | undefined = element;
  for (const name of path.split("/")) found = found && childOf(found, name);
  return found;
}

export const textAt = (element: Element, path: string): string => find(element, path)?.text ?? "";

/** All elements of that name, at any depth, in the order of the document. */
export function everyElement(element: Element, name: string): Element[] {
  const found: Element[] = [];
  const collect = ({ children }: Element) => {
    for (const child of children) {
      if (child.name === name) found.push(child);
      else collect(child);
    }
  };
  collect(element);
  return found;
}
