/** The pages of a PDF, in their order. */
import { MOST_PAGES, PdfRefused } from "./budget.ts";
import type { PdfFile } from "./file.ts";
import { type Dict, isDict, Ref, type Value } from "./values.ts";

export interface Page {
  dict: Dict;
  resources: Dict;
  /** Clockwise, in quarter turns. */
  turns: number;
}

interface Node {
  value: Value;
  resources: Dict;
  rotate: number;
}

/** @throws {PdfRefused} when there are none, or too many. */
export function pagesOf(file: PdfFile): Page[] {
  const pages: Page[] = [];
  const seen = new Set<number>();
  const nodes: Node[] = [{ value: file.dictIn(file.root).get("Pages") ?? null, resources: new Map(), rotate: 0 }];
  for (let node = nodes.pop(); node; node = nodes.pop()) {
    file.budget.spend();
    if (node.value instanceof Ref) {
      if (seen.has(node.value.number)) continue;
      seen.add(node.value.number);
    }
    const dict = file.get(node.value);
    if (!isDict(dict)) continue;
    const own = file.get(dict.get("Resources"));
    const resources = isDict(own) ? own : node.resources;
    const rotate = file.numberAt(dict, "Rotate") ?? node.rotate;
    const kids = file.get(dict.get("Kids"));
    if (Array.isArray(kids)) {
      if (kids.length + nodes.length > 50 * MOST_PAGES) throw new PdfRefused("long");
      for (const value of kids.toReversed()) nodes.push({ value, resources, rotate });
    } else {
      pages.push({ dict, resources, turns: ((Math.round(rotate / 90) % 4) + 4) % 4 });
      if (pages.length > MOST_PAGES) throw new PdfRefused("long");
    }
  }
  if (pages.length === 0) throw new PdfRefused("broken");
  return pages;
}
