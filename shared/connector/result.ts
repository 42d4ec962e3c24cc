/**
 * A tool's result: the envelope that the SQL function built, as structured content and as text. The text has a size
 * limit, because hosts show or count it. The structured content is always complete.
 */
import * as z from "zod/mini";
import { Told } from "../words/facts.ts";
import { type Cut, RefusalFacts, Said } from "../words/message.ts";
import type { Words } from "../words/words.ts";

/**
 * Success or failure of a tool, as reported by the database or the argument check. Errors and warnings are codes with
 * facts.
 */
export const FactEnvelope = z.looseObject({
  ok: z.boolean(),
  context: z.optional(z.looseObject({
    organization: z.optional(z.looseObject({ id: z.string(), name: z.string() })),
    timezone: z.optional(z.string()),
  })),
  data: z.optional(Told),
  error: z.optional(RefusalFacts),
  warnings: z.optional(z.array(Said)),
  change_id: z.optional(z.string()),
  proposal_id: z.optional(z.string()),
});
export type FactEnvelope = z.infer<typeof FactEnvelope>;

/** The result in words. */
export interface Envelope {
  ok: boolean;
  context?: FactEnvelope["context"];
  data?: Record<string, unknown>;
  error?: ToolError;
  [key: string]: unknown;
}

export interface ToolError {
  code: string;
  message: string;
  field?: string;
  hint?: string;
  retryable: boolean;
  details?: Record<string, unknown>;
}

export interface ToolResult {
  [key: string]: unknown;
  content: { type: "text"; text: string }[];
  structuredContent: Record<string, unknown>;
  isError?: true;
}

/** Hosts warn at about 10,000 tokens and move longer results into files. */
export const MAX_TEXT_CHARACTERS = 25_000;

export function toolResult(envelope: Envelope, { answer }: Words): ToolResult {
  return {
    content: [{ type: "text", text: shortText(envelope, answer) }],
    structuredContent: envelope,
    ...(!envelope.ok && { isError: true }),
  };
}

/** The envelope as JSON within the limit. Drops rows from the end of its longest lists, and lines of a CSV. */
function shortText(envelope: Envelope, words: Words["answer"]): string {
  const whole = JSON.stringify(envelope);
  if (whole.length <= MAX_TEXT_CHARACTERS) return whole;

  const data: Record<string, unknown> = { ...envelope.data };
  const cuts: Cut[] = [];
  for (const { key, units, join } of partsBySize(data)) {
    const render = (count: number) => {
      data[key] = join(units.slice(0, count));
      const hint = words.cut([...cuts, { key, shown: count, all: units.length }]);
      return JSON.stringify({ ...envelope, data, truncated: true, hint });
    };
    const count = largestFitting(units.length, (count) => render(count).length <= MAX_TEXT_CHARACTERS);
    const text = render(count);
    if (text.length <= MAX_TEXT_CHARACTERS) return text;
    cuts.push({ key, shown: 0, all: units.length });
  }
  return JSON.stringify({ ok: envelope.ok, truncated: true, hint: words.tooLong });
}

interface Part {
  key: string;
  units: unknown[];
  join: (units: unknown[]) => unknown;
}

function partsBySize(data: Record<string, unknown>): Part[] {
  return Object.entries(data)
    .map(([key, value]) => ({ key, value, size: JSON.stringify(value)?.length ?? 0 }))
    .sort((one, other) => other.size - one.size)
    .flatMap(({ key, value }): Part[] => {
      if (Array.isArray(value)) return [{ key, units: value, join: (rows) => rows }];
      if (typeof value === "string") return [{ key, units: value.split("\n"), join: (lines) => lines.join("\n") }];
      return [];
    });
}

/**
 * The largest count up to `most` that fits, by binary search; 0 when none does. A smaller count must always fit if a
 * larger one does.
 */
function largestFitting(most: number, fits: (count: number) => boolean): number {
  let low = 0;
  let high = most + 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (fits(middle)) low = middle;
    else high = middle;
  }
  return low;
}
