/**
 * The DATEV files of a period: a batch of bookings for each month, because a booking names no year, and a list of
 * payments that were omitted or need a check. Accountants find a wrong account or tax key late. So a payment whose
 * category has no account is omitted or booked on the chosen clearing account, and a tax key is written only if DATEV
 * computes the payment's own tax to the cent. The encoding is Windows-1252, because some imports read no Unicode. No
 * DATEV program has read these files; tests compare them with a file written by hand from the published format.
 */
import { writeCsv } from "./csv.ts";
import { bookPayment, categoryOf, LEFT_OUT, type Payment, type Remark, TO_CHECK } from "./datev_booking.ts";
import { type BatchHeader, encode, writeHeader, writeLine } from "./datev_format.ts";
import type { DatevSettings } from "./datev_settings.ts";
import { daysAfter, monthsAfter } from "../iso_day.ts";
import type { Period } from "./period.ts";
import type { ZipMember } from "./zip_stream.ts";

export interface DatevWords {
  /** The text about the files. */
  about(facts: DatevFacts): string;
  remarks: Readonly<Record<Remark, string>>;
}

export interface DatevFacts {
  booked: number;
  counterAccount: string;
  clearing: string | undefined;
  remarks: readonly { remark: Remark; count: number; isLeftOut: boolean }[];
  /** The payments' categories that have no account, with the number of their payments. */
  categories: readonly { name: string; count: number }[];
}

export interface DatevExport {
  settings: DatevSettings;
  /** The last closed day. */
  closed: string | null;
  period: Period;
  made: Date;
  /** The main currency. */
  currency: string;
  words: DatevWords;
}

const REMARKS = ["date", "payee", "name", "category", "amount", "currency", "tax", "id", "remark"];

/** DATEV's limit on bookings in one file. */
const MOST_BOOKINGS = 99_999;
const PART_LENGTH = 64 * 1024;

/**
 * @param payments by day; read again for the remarks, which may be as many
 * @param options.fileOf the document of a payment in the archive
 */
export async function* datevFiles(
  payments: () => AsyncIterable<Payment>,
  options: DatevExport & {
    uncategorized: string;
    fileOf(payment: Payment): string | undefined;
    mostBookings?: number;
  },
): AsyncGenerator<ZipMember, void, undefined> {
  const { settings, words, uncategorized, fileOf, mostBookings = MOST_BOOKINGS } = options;
  const book = (payment: Payment) => {
    const month = String(payment.date).slice(0, 7);
    const { cells, remarks } = bookPayment(payment, settings, {
      file: fileOf(payment),
      isLocked: isLocked(options, month),
    });
    return { month, cells, remarks, category: String(payment.category ?? uncategorized) };
  };
  const counts = new Map<Remark, number>();
  const categories = new Map<string, { name: string; count: number }>();
  let booked = 0;
  const lines = (async function* () {
    for await (const payment of payments()) {
      const { month, cells, remarks, category } = book(payment);
      for (const remark of remarks) {
        counts.set(remark, (counts.get(remark) ?? 0) + 1);
        if (remark !== "no_account" && remark !== "clearing") continue;
        const key = categoryOf(payment);
        categories.set(key, { name: category, count: (categories.get(key)?.count ?? 0) + 1 });
      }
      if (cells) yield { month, line: writeLine(cells) };
    }
  })();
  let next = await lines.next();
  const batch = async function* (month: string) {
    let text = writeHeader(headerOf(options, month));
    for (let count = 0; count < mostBookings && !next.done && next.value.month === month; count++) {
      text += next.value.line;
      booked++;
      // In parts of some size, because each part costs a call of the compressor.
      if (text.length > PART_LENGTH) {
        yield encode(text);
        text = "";
      }
      next = await lines.next();
    }
    yield encode(text);
  };
  let [part, last] = [1, ""];
  while (!next.done) {
    const { month } = next.value;
    part = month === last ? part + 1 : 1;
    last = month;
    yield { name: `datev/EXTF_Buchungsstapel_${month}${part > 1 ? `_${part}` : ""}.csv`, parts: batch(month) };
  }
  const remarked = async function* () {
    let text = writeCsv(REMARKS, []);
    for await (const payment of payments()) {
      const { remarks, category } = book(payment);
      const id = payment.expense_id ?? payment.id;
      const rows = remarks.map((remark) => ({ ...payment, category, id, remark: words.remarks[remark] }));
      text += writeCsv(REMARKS, rows, false);
      if (text.length > PART_LENGTH) {
        yield text;
        text = "";
      }
    }
    yield text;
  };
  if (counts.size > 0) yield { name: "datev/remarks.csv", parts: remarked() };
  const facts: DatevFacts = {
    booked,
    counterAccount: settings.paid_from,
    clearing: settings.clearing,
    remarks: [...LEFT_OUT, ...TO_CHECK].flatMap((remark) => {
      const count = counts.get(remark);
      return count ? [{ remark, count, isLeftOut: (LEFT_OUT as readonly Remark[]).includes(remark) }] : [];
    }),
    categories: [...categories.values()],
  };
  yield { name: "datev/README.txt", parts: [words.about(facts)] };
}

const isLocked = ({ settings, closed }: DatevExport, month: string): boolean =>
  settings.locks === true && closed !== null && month <= closed.slice(0, 7);

function headerOf(options: DatevExport, month: string): BatchHeader {
  const { settings, period, made, currency } = options;
  const { consultant, client, chart, year_starts: yearStarts } = settings;
  const [from, to] = [`${month}-01`, daysAfter(monthsAfter(`${month}-01`, 1), -1)];
  const [year, number] = month.split("-").map(Number) as [number, number];
  const yearStart = `${number < yearStarts ? year - 1 : year}-${String(yearStarts).padStart(2, "0")}-01`;
  return {
    ...{ made, consultant, client, chart, currency, yearStart },
    from: from < period.from ? period.from : from,
    to: to > period.to ? period.to : to,
    name: `Ausgaben ${month}`,
    isLocked: isLocked(options, month),
  };
}
