/**
 * The code that a function loads before its first response: its bundle, minified and compressed. Lazy chunks are
 * listed separately.
 */
import type { Options, Row } from "../measure/row.ts";
import { type Slug, SLUGS } from "../../shared/routes.ts";
import { bundleSizes } from "../measure/bundle.ts";

const nameOf = (slug: Slug) => `bundle: ${slug}`;
export const NAMES = SLUGS.map(nameOf);

export async function measureBundles({ only }: Options): Promise<Row[]> {
  const rows: Row[] = [];
  for (const slug of SLUGS.filter((slug) => nameOf(slug).includes(only))) {
    const { staticKb, lazyKb, modules, largest } = await bundleSizes(slug);
    const told = largest.slice(0, 3).map(({ name, kb }) => `${name} ${kb.toFixed(0)}`).join(", ");
    rows.push({
      name: nameOf(slug),
      value: { median: staticKb, low: staticKb, high: staticKb },
      unit: "kB",
      detail: `${modules} modules, lazy chunks ${lazyKb.toFixed(0)} kB; most of it, raw: ${told}`,
      errors: 0,
    });
  }
  return rows;
}
