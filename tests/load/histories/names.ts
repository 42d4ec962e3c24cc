/** Replaces ids with names in order of appearance, so that two organizations with the same history compare equal. */
import { markOf, organizationId } from "../world/seed.ts";
import type { Json } from "./write.ts";

const IDS = /\b(?:exp|bill|pay|chg|occ|cat|stl|set|spl|prop)_[0-9a-z]{8,}\b/g;
const NAMES = /<id (\d+)>/g;

export interface Names {
  /** A value with names instead of ids. */
  named(value: Json): Json;
  /** A value with this organization's ids instead of names. */
  resolved(value: Json): Json;
}

export function newNames(organization: number): Names {
  const numbers = new Map<string, number>();
  const ids: string[] = [];
  const number = (id: string) => {
    if (!numbers.has(id)) {
      numbers.set(id, ids.length);
      ids.push(id);
    }
    return numbers.get(id);
  };
  const own = (text: string) =>
    text
      .replaceAll(organizationId(organization), "<organization>")
      .replaceAll(markOf(organization), "<mark>")
      .replaceAll(markOf(organization).toLowerCase(), "<address>")
      .replaceAll(`00000000-0000-4000-8000-${String(organization).padStart(6, "0")}`, "<person>");
  const others = (text: string) =>
    text
      .replaceAll("<organization>", organizationId(organization))
      .replaceAll("<mark>", markOf(organization))
      .replaceAll("<address>", markOf(organization).toLowerCase());
  return {
    named: (value) => JSON.parse(own(JSON.stringify(value)).replace(IDS, (id) => `<id ${number(id)}>`)),
    resolved: (value) => JSON.parse(others(JSON.stringify(value)).replace(NAMES, (_, name) => ids[Number(name)]!)),
  };
}
