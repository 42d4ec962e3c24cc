/** Rows of a statement that are sums of other rows. */
import { plainHeader } from "./header_words.ts";
import type { Conventions, Direction, Kind, RawLine } from "./statement.ts";
import { toUnits } from "./units.ts";

/** A word for a sum at the start of a row's name. */
const TOTAL =
  /^(grand total|sub ?total|total|summe|gesamt|zwischensumme|sous total|suma|somme|totale|totaal|subtotaal|razem|celkem|ukupno|promet|osszesen|yhteensa|totalt|totales|totais|toplam|kaive|kokku|apyvarta|is viso|apgrozijums|kopa|turnover|obrat|obroty|общо|итого|всего|разом|小計|合計|合计|小计|합계|소계)(?![\p{L}\d])/u;

interface Line {
  raw: RawLine;
  date?: string | undefined;
  amount?: string | undefined;
  direction?: Direction | undefined;
  kind: Kind;
}

/**
 * Marks a row as omitted if its name means a total and it sums up the rows above it, either all or since the last
 * total.
 */
export function leaveOutTotals(lines: Line[], { isKnown }: Conventions): void {
  if (isKnown) return;
  const sums = { since: { in: 0n, out: 0n }, all: { in: 0n, out: 0n } };
  for (const line of lines) {
    if (line.raw.problem || line.amount === undefined || !line.date || line.kind === "balance") continue;
    const units = toUnits(line.amount);
    const isSum = Object.values(sums).some(({ in: into, out }) =>
      into + out > 0n && [into, out, into - out, out - into].includes(units)
    );
    if (isSum && TOTAL.test(plainHeader(line.raw.name || line.raw.payee || ""))) {
      line.kind = "split";
      sums.since = { in: 0n, out: 0n };
      continue;
    }
    for (const sum of [sums.since, sums.all]) sum[line.direction ?? "out"] += units;
  }
}
