/** The catalog's prompts in the protocol's form. */
import type { GetPromptRequest, GetPromptResult, Prompt } from "@modelcontextprotocol/server";
import type { PromptWords } from "../../shared/words/en/prompts.ts";
import type { Words } from "../../shared/words/words.ts";

const MAX_ARGUMENT = 200;

/** Most clients request no prompts, so their words load at the first request. */
const promptsOf = async ({ prompts }: Words) => new Map<string, PromptWords>(Object.entries(await prompts()));

export const listPrompts = async (words: Words): Promise<Prompt[]> =>
  [...await promptsOf(words)].map(([name, { title, description, argument }]) => ({
    name,
    title,
    description,
    ...(argument && { arguments: [argument] }),
  }));

/** @returns undefined for an unknown name. */
export async function getPrompt(
  words: Words,
  { name, arguments: filledIn = {} }: GetPromptRequest["params"],
): Promise<GetPromptResult | undefined> {
  const prompt = (await promptsOf(words)).get(name);
  if (!prompt) return undefined;
  const { description, argument } = prompt;
  const value = argument && filledIn[argument.name]?.trim();
  // User input for use inside quotation marks.
  const text = prompt.text(value?.replace(/["\p{Cc}]/gu, "").trim().slice(0, MAX_ARGUMENT));
  return { description, messages: [{ role: "user", content: { type: "text", text } }] };
}
