/** The contract of `import_expenses`; the file is read here, `app.import_expenses` imports its rows. */
import type { ArgumentError } from "../../../shared/connector/argument_error.ts";
import { currency, flag, id, integer, object, onDuplicate, oneOf, text } from "../../../shared/connector/schema.ts";
import { type Arguments, CREATE, defineTool, type ParsedArguments } from "../../../shared/connector/tool.ts";
import { type Mapping, readImport } from "../../../shared/import/read_import.ts";
import { repairText } from "../../../shared/import/repair_text.ts";

const column = { type: "string" };

export const importExpenses = defineTool({
  name: "import_expenses",
  title: "Import expenses from CSV",
  annotations: CREATE,
  description:
    "Step 1: pass csv (<=2000 rows, 512 KB); returns a preview and import_id, writes nothing. Step 2: pass import_id with expected_count and expected_totals from the preview to commit. Previews expire after 24 h.",
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
    import_id: id("imp"),
    expected_count: integer({ minimum: 0 }),
    expected_totals: {
      type: "object",
      additionalProperties: { type: "string" },
      description: '{"EUR":"812.40"}',
    },
    on_duplicate: onDuplicate,
    create_missing_categories: flag(false),
  }),
  // Files are mostly ASCII; quotation marks and line ends take two bytes when escaped in JSON.
  maxBytes: 1_048_576,
  data: { preview: "object", created: "integer", skipped: "integer", totals: "object" },
  repair,
  refine,
});

/** Runs before any cleaning: apparent garbage may reveal the encoding. */
function repair(input: Arguments): Arguments {
  return typeof input.csv === "string" ? { ...input, csv: repairText(input.csv).text } : input;
}

function refine(value: Arguments, sent: Arguments): ParsedArguments {
  const { csv, mapping, import_id, expected_count, expected_totals, ...rest } = value;
  if ((csv === undefined) === (import_id === undefined)) {
    return csv === undefined
      ? refuse({ code: "invalid_argument.csv_or_import_id", field: "csv" })
      : refuse({ code: "invalid_argument.csv_and_import_id", field: "import_id" });
  }
  if (import_id !== undefined) {
    for (const [field, given] of Object.entries({ expected_count, expected_totals })) {
      if (given === undefined) {
        return refuse({ code: "invalid_argument.needed_to_commit", params: { name: field }, field });
      }
    }
    return { ok: true, value: { ...rest, import_id, expected_count, expected_totals } };
  }
  const read = readImport(csv as string, mapping as Mapping);
  if ("code" in read) return refuse(read);
  const { encoding } = repairText(sent.csv as string);
  return {
    ok: true,
    value: {
      ...rest,
      ...read,
      mapping: { ...read.mapping, ...(encoding && { encoding }) },
      warnings: encoding === "damaged" ? [{ code: "encoding" }] : [],
    },
  };
}

const refuse = (error: ArgumentError): ParsedArguments => ({ ok: false, error });
