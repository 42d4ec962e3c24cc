/**
 * The contract of `import_expenses`; this module reads the file, and `app.import_expenses` imports its rows in steps.
 */
import type { ArgumentError } from "../../../../shared/connector/argument_error.ts";
import {
  amount,
  currency,
  date,
  flag,
  id,
  integer,
  list,
  mapOf,
  object,
  onDuplicate,
  oneOf,
  text,
} from "../../../../shared/connector/schema.ts";
import { type Arguments, CREATE, defineTool, type ParsedArguments } from "../../../../shared/connector/tool.ts";
import { countRows, describeAsked, describeRead, latestDay, pagesOf } from "../../../../shared/import/import_pages.ts";
import { type Mapping, readImport } from "../../../../shared/import/read_import.ts";
import { repairText } from "../../../../shared/import/repair_text.ts";
import { workOn } from "./import_work.ts";
import { answer } from "./answer.ts";

const column = { type: "string" };
const line = integer({ minimum: 1, maximum: 999_999_999 });

export const importExpenses = defineTool({
  name: "import_expenses",
  annotations: CREATE,
  inputSchema: object({
    csv: text(524288),
    mapping: object({
      date: column,
      amount: column,
      name: column,
      payee: column,
      currency: column,
      category: column,
      note: column,
      url: column,
      date_format: oneOf(["YYYY-MM-DD", "DD/MM/YYYY", "MM/DD/YYYY", "DD.MM.YYYY"]),
      decimal: oneOf([".", ","]),
      negative_is_expense: { type: "boolean" },
    }),
    default_currency: currency(),
    account: text(60, { minLength: 1, description: "Default: as the file says." }),
    import_id: id("imp"),
    after_line: line,
    answers: mapOf({ question: "answer" }, {
      additionalProperties: { anyOf: [{ type: "string" }, { type: "boolean" }] },
      maxProperties: 500,
      description: 'By question id: {"row_12":"same"}',
    }),
    skip_lines: list(line, { maxItems: 2000 }),
    corrections: list(
      object({
        line,
        name: text(120, { minLength: 1 }),
        amount: amount(),
        date: date(),
        category: text(60),
        currency: currency(),
      }, [
        "line",
      ]),
      { maxItems: 500 },
    ),
    rules: list(
      object({ payee: text(120, { minLength: 1 }), category: text(60, { minLength: 1 }) }, ["payee", "category"]),
      {
        maxItems: 50,
      },
    ),
    expected_count: integer({ minimum: 0 }),
    expected_totals: mapOf({ currency: "amount" }, {
      additionalProperties: { type: "string" },
      description: '{"EUR":"812.40"}',
    }),
    on_duplicate: onDuplicate,
    create_missing_categories: flag(false),
  }),
  // Files are mostly ASCII; JSON escapes quotation marks and line ends as two bytes.
  maxBytes: 1_048_576,
  data: {
    upload: "object",
    import: "object",
    preview: "object",
    created: "integer",
    linked: "integer",
    skipped: "integer",
    not_written: "object",
    totals: "object",
    pays: "array",
    corrects: "array",
    removes: "array",
  },
  answer,
  repair,
  refine,
  followUp: workOn,
  isLong: ({ expected_count }) => expected_count !== undefined,
});

/** Runs before any cleaning, because apparent garbage may reveal the encoding. */
function repair(input: Arguments): Arguments {
  return typeof input.csv === "string" ? { ...input, csv: repairText(input.csv).text } : input;
}

/** Arguments that need a file, or an import that has one. */
const OF_A_FILE = ["mapping", "answers", "skip_lines", "corrections", "rules", "expected_count", "expected_totals"];

function refine(value: Arguments, sent: Arguments, at = new Date(0)): ParsedArguments {
  const { csv, import_id, expected_count, expected_totals } = value;
  if (csv !== undefined && import_id !== undefined) {
    return refuse({ code: "invalid_argument.csv_and_import_id", field: "import_id" });
  }
  if (csv !== undefined) return readText(value, sent, at);
  if (import_id === undefined) {
    return OF_A_FILE.some((field) => value[field] !== undefined)
      ? refuse({ code: "invalid_argument.csv_or_import_id", field: "import_id" })
      : { ok: true, value: { ...value, step: "start" } };
  }
  for (const [field, other] of [["expected_count", expected_totals], ["expected_totals", expected_count]] as const) {
    if (other !== undefined && value[field] === undefined) {
      return refuse({ code: "invalid_argument.needed_to_commit", params: { name: field }, field });
    }
  }
  const { default_currency: _, ...rest } = value;
  return { ok: true, value: rest };
}

/** Sends a file to the database in one piece, with one call. */
function readText({ csv, mapping, answers, ...given }: Arguments, sent: Arguments, at: Date): ParsedArguments {
  const { default_currency = given.default_currency, ...conventions } = (answers ?? {}) as Arguments;
  const rest = { ...given, ...(default_currency !== undefined && { default_currency }) };
  const said = { ...mapping as Mapping, ...conventions as Mapping };
  const read = readImport(csv as string, said, latestDay(at), { home: default_currency as string | undefined });
  const { encoding } = repairText(sent.csv as string);
  const whole = { ...rest, step: "all", file: csv, mapping: said };
  const warnings = encoding === "damaged" ? [{ code: "encoding" }] : [];
  if ("code" in read) {
    // The account may have remembered the answer.
    const asked = describeAsked(read, warnings);
    return asked ? { ok: true, value: { ...whole, row_count: 0, read: asked } } : refuse(read);
  }
  const [page] = pagesOf(read, 0, Infinity);
  const { count: _, is_last: __, ...rows } = page!;
  const described = describeRead(read, warnings);
  return {
    ok: true,
    value: {
      ...whole,
      ...rows,
      row_count: countRows(read),
      read: { ...described, ...(encoding && { encoding }) },
    },
  };
}

const refuse = (error: ArgumentError): ParsedArguments => ({ ok: false, error });
