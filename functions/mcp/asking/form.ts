/** Forms for people: the choice among several bills, and the questions of a statement. */
import * as z from "zod/mini";
import type { Arguments } from "../../../shared/connector/tool.ts";
import type { Words } from "../../../shared/words/words.ts";

/** The maximum number of questions in a form; the assistant asks further ones in groups. */
const MOST_FIELDS = 20;

const Candidate = z.object({
  id: z.string(),
  name: z.string(),
  amount: z.optional(z.string()),
  currency: z.optional(z.string()),
  date: z.optional(z.string()),
  next_due: z.optional(z.string()),
});
type Candidate = z.infer<typeof Candidate>;

const Ambiguous = z.object({
  error: z.object({
    code: z.literal("ambiguous_name"),
    message: z.string(),
    details: z.object({ candidates: z.array(Candidate) }),
  }),
});

const Option = z.union([z.string(), z.boolean()]);
const Preview = z.object({
  data: z.object({
    preview: z.object({
      import_id: z.string(),
      questions: z.array(z.object({
        id: z.string(),
        message: z.string(),
        about: z.optional(z.object({ candidates: z.optional(z.array(Candidate)) })),
        options: z.array(Option),
        default: z.optional(Option),
      })),
      questions_count: z.optional(z.number()),
    }),
  }),
});

/** The questions of a form, and the arguments that its answers set. Travels through the client, signed. */
export const Asked = z.union([
  z.object({ kind: z.literal("bill"), options: z.object({ bill_id: z.array(z.string()) }) }),
  z.object({ kind: z.literal("import"), import_id: z.string(), options: z.record(z.string(), z.array(Option)) }),
]);
export type Asked = z.infer<typeof Asked>;

interface Field {
  type: "string";
  title: string;
  oneOf: { const: string; title: string }[];
  default?: string;
}

export interface Form {
  message: string;
  requestedSchema: { type: "object"; properties: Record<string, Field>; required?: string[] };
  asked: Asked;
}

/** @param result in the form that the model would get @returns undefined for a result without a question for a form */
export function formOf(result: unknown, { asking }: Words): Form | undefined {
  const ambiguous = Ambiguous.safeParse(result);
  if (ambiguous.success) {
    const { message, details: { candidates } } = ambiguous.data.error;
    const bill = { type: "string" as const, title: asking.bill, oneOf: candidates.map(titled(asking.bills)) };
    return {
      message,
      requestedSchema: { type: "object", properties: { bill_id: bill }, required: ["bill_id"] },
      asked: { kind: "bill", options: { bill_id: candidates.map(({ id }) => id) } },
    };
  }
  const previewed = Preview.safeParse(result);
  if (!previewed.success) return undefined;
  const { import_id, questions, questions_count } = previewed.data.data.preview;
  if (questions.length === 0 || questions.length > MOST_FIELDS || questions_count !== undefined) return undefined;
  const fields = questions.map(({ id, message, about, options, default: usual }): [string, Field] => {
    const known = new Map(about?.candidates?.map((candidate) => [candidate.id, titled(asking.rows)(candidate).title]));
    const title = (option: string) =>
      known.get(option) ?? (asking.options as Partial<Record<string, string>>)[option] ?? option;
    const oneOf = options.map((option) => ({ const: String(option), title: title(String(option)) }));
    return [id, { type: "string", title: message, oneOf, ...(usual !== undefined && { default: String(usual) }) }];
  });
  return {
    message: asking.statement(questions.length),
    requestedSchema: { type: "object", properties: Object.fromEntries(fields) },
    asked: {
      kind: "import",
      import_id,
      options: Object.fromEntries(questions.map(({ id, options }) => [id, options])),
    },
  };
}

const titled = (title: (candidate: Candidate) => string) => (candidate: Candidate) => ({
  const: candidate.id,
  title: title(candidate),
});

/** The arguments with a person's answers; undefined if an answer is not one of the options. */
export function answered(args: Arguments, asked: Asked, content: Record<string, unknown>): Arguments | undefined {
  const options = asked.options as Record<string, (string | boolean)[]>;
  const answers = Object.entries(content).map(([id, answer]) => ({
    id,
    answer: Object.hasOwn(options, id) ? options[id]!.find((option) => String(option) === answer) : undefined,
  }));
  if (answers.some(({ answer }) => answer === undefined)) return undefined;
  const said = Object.fromEntries(answers.map(({ id, answer }) => [id, answer]));
  // A name is not enough, because it might not match the chosen bill.
  if (asked.kind === "bill") return "bill_id" in said ? { ...without(args, "bill_name"), ...said } : undefined;
  return { import_id: asked.import_id, ...(answers.length > 0 && { answers: said }) };
}

const without = (args: Arguments, field: string): Arguments =>
  Object.fromEntries(Object.entries(args).filter(([name]) => name !== field));
