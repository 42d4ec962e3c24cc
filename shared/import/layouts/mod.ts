/** Finds the known export of a file, by its header line or, without a header, by its cells. */
import { isSameHeader, type Role } from "../header_words.ts";
import { BARE } from "./bare.ts";
import { ENGLISH } from "./english.ts";
import { EUROPE } from "./europe.ts";
import type { Layout } from "./layout.ts";
import { PROGRAMS } from "./programs.ts";

export const LAYOUTS: readonly Layout[] = [...EUROPE, ...ENGLISH, ...PROGRAMS];

/** Columns by role, the preferred first. */
export type RoleColumns = Partial<Record<Role, number[]>>;
export interface KnownLayout {
  layout: Omit<Layout, "columns" | "also">;
  columns: RoleColumns;
}

/** No known header is wider; comparing damaged letters in wider ones would be slow. */
const MAX_WIDTH = 60;

/** @param plain headers, normalized by `plainHeader` @returns the known export with the most columns in this header */
export function findLayout(plain: string[]): KnownLayout | undefined {
  if (plain.length < 3 || plain.length > MAX_WIDTH) return undefined;
  const places = placesOf(plain);
  let best: { layout: Layout; columns: RoleColumns; width: number } | undefined;
  for (const layout of LAYOUTS) {
    if (!list(layout.also).every((word) => places(word) !== undefined)) continue;
    const columns = columnsOf(layout, places);
    if (!columns) continue;
    const width = new Set([...Object.values(columns).flat(), ...list(layout.also).map(places)]).size;
    if (!best || width > best.width) best = { layout, columns, width };
  }
  return best && { layout: best.layout, columns: best.columns };
}

/** @param rows the first rows of a file without a header */
export function findBareLayout(rows: string[][]): KnownLayout | undefined {
  const layout = BARE.find(({ cells: patterns }) =>
    rows.every((cells) => cells.length === patterns.length && patterns.every((pattern, i) => pattern.test(cells[i]!)))
  );
  if (!layout || rows.length === 0) return undefined;
  const columns = Object.fromEntries(Object.entries(layout.places).map(([role, place]) => [role, [place]]));
  return { layout, columns };
}

const list = (words: string | undefined) => (words ? words.split("|") : []);

type Places = (word: string) => number | undefined;

/** The position of a header word; "word#2" is the second column of that name. */
function placesOf(plain: string[]): Places {
  const isDamaged = plain.some((header) => header.includes("\ufffd"));
  const first = new Map<string, number>();
  plain.forEach((header, place) => {
    const nth = plain.slice(0, place).filter((other) => other === header).length;
    first.set(nth === 0 ? header : `${header}#${nth + 1}`, place);
  });
  return (word) => {
    const place = first.get(word);
    if (place !== undefined || !isDamaged || word.includes("#")) return place;
    const like = plain.findIndex((header) => isSameHeader(header, word));
    return like < 0 ? undefined : like;
  };
}

/** @returns undefined when a required column is missing */
function columnsOf({ columns }: Layout, places: Places): RoleColumns | undefined {
  const found: RoleColumns = {};
  for (const [role, words] of Object.entries(columns)) {
    const names = list(words);
    const there = names.flatMap((name) => places(name.endsWith("?") ? name.slice(0, -1) : name) ?? []);
    if (there.length === 0 && names.some((name) => !name.endsWith("?"))) return undefined;
    if (there.length > 0) found[role as Role] = there;
  }
  return found;
}
