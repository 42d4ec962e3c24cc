/**
 * Puts a tool's result into words for a model or a person. Only this module combines tool results with a language
 * catalog.
 */
import type { Envelope, FactEnvelope } from "../../../shared/connector/result.ts";
import type { Said } from "../../../shared/words/message.ts";
import type { Words } from "../../../shared/words/words.ts";
import { presentData } from "./data.ts";
import { presentError } from "./error.ts";
import { findWords, publicCode } from "../../../shared/words/codes.ts";

export function present(tool: string, facts: FactEnvelope, words: Words): Envelope {
  if (!facts.ok) return { ...facts, error: presentError(facts.error!, words) } as Envelope;
  return {
    ...facts,
    ...(facts.data && { data: presentData(tool, facts.data, words) }),
    ...(facts.warnings && { warnings: facts.warnings.map((warning) => presentWarning(warning, words)) }),
  } as Envelope;
}

const presentWarning = ({ code, params = {} }: Said, { warnings, answer }: Words) => ({
  code: publicCode(code),
  message: findWords(warnings, code, answer.unknownText)(params),
});
