/** Reads the form of DATEV accounts. */
import { ACCOUNT, type DatevSettings, TAX_RATES } from "../../../shared/export/datev_settings.ts";
import type { PageWords } from "../../../shared/words/page_words.ts";
import type { Form } from "../page_guards.ts";

/** The input by field name, to show again with its errors. */
export interface TypedDatev {
  values: Readonly<Record<string, string>>;
  /** Errors as sentences. */
  problems: Readonly<Record<string, string>>;
}

export const accountField = (categoryId: string) => `account_${categoryId}`;
export const taxField = (rate: string) => `tax_${rate}`;

export const typedOf = (settings: DatevSettings | null): TypedDatev => ({
  problems: {},
  values: settings
    ? {
      consultant: String(settings.consultant),
      client: String(settings.client),
      chart: settings.chart,
      year_starts: String(settings.year_starts),
      paid_from: settings.paid_from,
      clearing: settings.clearing ?? "",
      locks: settings.locks ? "yes" : "",
      ...Object.fromEntries(TAX_RATES.map((rate) => [taxField(rate), settings.tax_keys[rate] ?? ""])),
      ...Object.fromEntries(Object.entries(settings.accounts).map(([id, account]) => [accountField(id), account])),
    }
    : { year_starts: "1" },
});

/**
 * @param asked.before the earlier settings. They keep the accounts of categories that the form lacks, such as newer
 * ones.
 */
export function readDatev(
  form: Form,
  { categories, before, words }: {
    categories: readonly string[];
    before: DatevSettings | null;
    words: PageWords["datev"]["problems"];
  },
): { settings: DatevSettings } | { typed: TypedDatev } {
  const problems: Record<string, string> = {};
  const values: Record<string, string> = {};
  const read = (name: string, pattern: RegExp, problem: string, isOptional = false): string => {
    const value = values[name] = (form.get(name) ?? "").trim();
    if (value ? !pattern.test(value) : !isOptional) problems[name] = problem;
    return value;
  };
  const readNumber = (name: string, [least, most]: readonly [number, number], problem: string): number => {
    const number = Number(read(name, /^\d{1,7}$/, problem));
    if (number < least || number > most) problems[name] = problem;
    return number;
  };
  const filled = (entries: [string, string][]) => Object.fromEntries(entries.filter(([, value]) => value));
  const locks = values.locks = form.get("locks") === "yes" ? "yes" : "";
  const clearing = read("clearing", ACCOUNT, words.account, true);
  const kept = Object.entries(before?.accounts ?? {}).filter(([id]) => !form.has(accountField(id)));
  const asked = categories.filter((id) => form.has(accountField(id)));
  const settings: DatevSettings = {
    consultant: readNumber("consultant", [1001, 9_999_999], words.consultant),
    client: readNumber("client", [1, 99_999], words.client),
    chart: read("chart", /^0[34]$/, words.chart) as DatevSettings["chart"],
    year_starts: readNumber("year_starts", [1, 12], words.yearStarts),
    paid_from: read("paid_from", ACCOUNT, words.account),
    ...(clearing && { clearing }),
    ...(locks && { locks: true }),
    tax_keys: filled(TAX_RATES.map((rate) => [rate, read(taxField(rate), /^\d{1,4}$/, words.taxKey, true)])),
    accounts: filled([
      ...kept,
      ...asked.map((id): [string, string] => [id, read(accountField(id), ACCOUNT, words.account, true)]),
    ]),
  };
  return Object.keys(problems).length > 0 ? { typed: { values, problems } } : { settings };
}
