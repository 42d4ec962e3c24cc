/**
 * Names and values that models send instead of the contract's, as data. `understand.ts` applies an entry only if the
 * contract has the field or choice and the call does not already contain it.
 */

/**
 * Field names by the contract's name. A name stands for the first matching field that the tool has and the call lacks.
 */
const FIELDS: Record<string, string> = {
  payee: "merchant vendor store shop seller supplier recipient company",
  name: "title label description item_name expense_name bill_title",
  query: "search q text keyword keywords search_term term description name bill_name title",
  note: "memo comment comments remark description details location place",
  chart: "type chart_type kind",
  amount: "price cost total sum amount_value total_amount",
  currency: "currency_code",
  base_currency: "currency currency_code default_currency",
  category: "category_name category_id type_of_expense",
  date: "when on day paid_on expense_date transaction_date purchase_date",
  from: "start_date start date_from from_date since after begin",
  to: "end_date end date_to to_date until before",
  first_due: "due_date due_on start_date first_due_date next_due due starts_on date",
  due_on: "due_date due",
  ends_on: "end_date until",
  paid_on: "date paid_date payment_date paid_at",
  pause_until: "resume_on resumes_on resume_date resume_at paused_until until",
  borne_by: "bearer borne share_of",
  recorded_by: "created_by added_by logged_by entered_by author",
  apply_from: "effective_from effective_date valid_from from_date from",
  month_days: "day_of_month month_day due_day day",
  bill_name: "bill name",
  bill_id: "id",
  change_id: "id",
  account: "account_name account_id",
  items: "expenses entries transactions",
  set: "changes updates fields values patch",
  new_name: "rename_to",
  into: "merge_into target",
  per: "period",
  between: "members people",
  payee_rules: "rules",
  in_currency: "currency convert_to target_currency",
  group_by: "group by",
  autopay: "auto_pay automatic",
  timezone: "time_zone tz",
  default_currency: "currency",
};

const ALIASES = new Map<string, string[]>();
for (const [field, aliases] of Object.entries(FIELDS)) {
  for (const alias of aliases.split(" ")) ALIASES.set(alias, [...ALIASES.get(alias) ?? [], field]);
}

/** The fields that a name may stand for, in order. */
export const fieldsFor = (name: string): readonly string[] => ALIASES.get(name) ?? [];

/** Choices by the contract's value, without spaces, hyphens and underscores. */
const CHOICES: Record<string, string> = {
  yearly: "annual annually year everyyear",
  monthly: "month everymonth",
  weekly: "week everyweek",
  daily: "day everyday",
  once: "onetime oneoff single",
  cancelled: "canceled cancel ended",
  paused: "pause suspended onhold",
  active: "resume resumed",
  year: "yearly annual annually",
  month: "monthly",
  week: "weekly",
  day: "daily",
  payee: "merchant merchants vendor vendors payees store",
  category: "categories",
  tag: "tags",
  member: "members person people payer",
  currency: "currencies",
  recorded: "created createdat added recordedat",
  by_category: "category categories pie piechart donut",
  over_time: "time trend",
  upcoming_bills: "upcoming bills",
  previous_period: "true previous lastperiod previousmonth lastmonth",
  same_period_last_year: "lastyear yearoveryear previousyear",
  none: "false",
  allow: "force create",
  one_off: "expense expenses",
  bill_payment: "bill bills payment",
};

const MEANT = new Map<string, string[]>();
for (const [choice, values] of Object.entries(CHOICES)) {
  for (const value of values.split(" ")) MEANT.set(value, [...MEANT.get(value) ?? [], choice]);
}

/** The choices that a value may stand for. @param plain lower case, without spaces, hyphens and underscores */
export const choicesFor = (plain: string): readonly string[] => MEANT.get(plain) ?? [];

/** Frequencies that the contract writes as a unit and a number. Bimonthly is missing, because it is ambiguous. */
export const RHYTHMS: Record<string, { frequency: string; every: number }> = {
  quarterly: { frequency: "monthly", every: 3 },
  everyquarter: { frequency: "monthly", every: 3 },
  semiannual: { frequency: "monthly", every: 6 },
  semiannually: { frequency: "monthly", every: 6 },
  halfyearly: { frequency: "monthly", every: 6 },
  biweekly: { frequency: "weekly", every: 2 },
  fortnightly: { frequency: "weekly", every: 2 },
  everytwoweeks: { frequency: "weekly", every: 2 },
};

/** Words for days near today and for the speaker, in the languages that people mix into English calls. */
export const DAYS: Record<string, string> = Object.fromEntries(
  Object.entries({
    today: "now heute hoy oggi aujourd'hui hoje vandaag dzisiaj",
    yesterday: "gestern ayer ieri hier ontem gisteren wczoraj",
    tomorrow: "morgen mañana domani demain amanhã jutro",
  }).flatMap(([day, words]) => words.split(" ").map((word) => [word, day])),
);

/** Weekdays by the contract's name, in the languages that people mix into English calls. */
const WEEKDAYS = new Map(
  Object.entries({
    monday: "montag lundi lunes lunedì segunda-feira maandag poniedziałek mon",
    tuesday: "dienstag mardi martes martedì terça-feira dinsdag wtorek tue",
    wednesday: "mittwoch mercredi miércoles mercoledì quarta-feira woensdag środa wed",
    thursday: "donnerstag jeudi jueves giovedì quinta-feira donderdag czwartek thu",
    friday: "freitag vendredi viernes venerdì sexta-feira vrijdag piątek fri",
    saturday: "samstag sonnabend samedi sábado sabato zaterdag sobota sat",
    sunday: "sonntag dimanche domingo domenica zondag niedziela sun",
  }).flatMap(([day, words]) => [day, ...words.split(" ")].map((word) => [word, day])),
);

/** "last Friday" as `last_friday`; undefined for other text. */
export function weekdayNamed(text: string): string | undefined {
  const [, which, word] = /^(?:on )?(last |next |this )?(\S{3,20})$/.exec(text.replaceAll("_", " ")) ?? [];
  const day = word && WEEKDAYS.get(word);
  return day && `${which && which !== "this " ? which.replace(" ", "_") : ""}${day}`;
}

/** "Last 3 months" as `last_3_months`, "last quarter" as `last_quarter`; undefined for other text. */
export function periodNamed(text: string): string | undefined {
  const plain = text.trim().toLowerCase().replace(/[\s_-]/g, "");
  const [, which, unit] = /^(this|last|next|current|previous)(week|month|quarter|year)$/.exec(plain) ?? [];
  if (which) return `${which === "current" ? "this" : which === "previous" ? "last" : which}_${unit}`;
  const [, count, units] = /^(?:last|past)(\d{1,3})(day|week|month|year)s?$/.exec(plain) ?? [];
  return count && `last_${Number(count)}_${units}s`;
}

/** "last Friday" of a month as `-1FR`, "2nd Tuesday" as `2TU`; undefined for other text. */
export function monthWeekdayNamed(text: string): string | undefined {
  const [, place, word] =
    /^(last|[1-4](?:st|nd|rd|th)|first|second|third|fourth) (\S{3,20})$/.exec(text.toLowerCase()) ?? [];
  const day = word && WEEKDAYS.get(word);
  const number = place &&
    (place === "last" ? -1 : Number(place[0]) || ["first", "second", "third", "fourth"].indexOf(place) + 1);
  return day && `${number}${day.slice(0, 2).toUpperCase()}`;
}

export const SPEAKER = new Set(["i", "myself", "self", "ich", "moi", "yo", "io", "eu", "ik", "ja", "user"]);

let names: Map<string, string> | undefined;

/** The code of a currency by its name in a few languages; undefined for names of several currencies, such as dollar. */
export function currencyNamed(text: string): string | undefined {
  names ??= currencyNames();
  const plain = text.trim().toLowerCase();
  return names.get(plain) ?? names.get(plain.replace(/s$/, ""));
}

function currencyNames(): Map<string, string> {
  const found = new Map<string, string>([["euro", "EUR"]]);
  const lastWords = new Map<string, Set<string>>();
  for (const language of ["en", "de", "fr", "es", "it", "pl"]) {
    const display = new Intl.DisplayNames(language, { type: "currency", fallback: "none" });
    for (const code of Intl.supportedValuesOf("currency")) {
      const name = display.of(code)?.toLowerCase();
      // Years in parentheses mark a currency that is no longer in use.
      if (!name || name.includes("(")) continue;
      if (!found.has(name)) found.set(name, code);
      const word = name.split(" ").at(-1)!;
      lastWords.set(word, (lastWords.get(word) ?? new Set()).add(code));
    }
  }
  for (const [word, codes] of lastWords) {
    const [code] = codes;
    if (codes.size === 1 && !found.has(word)) found.set(word, code!);
  }
  return found;
}
