/** The bookkeeping guide and the prompts as skills (SEP-2640). Loads at the first request for a skill. */
import { type Skill, skillEntry } from "@modelcontextprotocol/server/ext/skills";
import type { Words } from "../../../shared/words/words.ts";
import { BASE, GUIDE_URI } from "./uris.ts";

interface Served {
  skill: Skill;
  /** The content of its only file, Markdown with YAML front matter. */
  text: string;
}

const built = new WeakMap<Words, Promise<Map<string, Served>>>();

/** Keyed by the URI of their file, the guide first. */
export function skillsOf(words: Words): Promise<Map<string, Served>> {
  let skills = built.get(words);
  if (!skills) built.set(words, skills = build(words));
  return skills;
}

async function build(words: Words): Promise<Map<string, Served>> {
  const { guide } = await words.skills();
  const prompts = Object.entries(await words.prompts());
  const served = await Promise.all([
    serve(GUIDE_URI, guide),
    ...prompts.map(([name, { description, text }]) =>
      serve(`${BASE}${name.replaceAll("_", "-")}/SKILL.md`, { description, text: text(undefined) })
    ),
  ]);
  return new Map(served.map((one) => [one.skill.uri, one]));
}

async function serve(uri: string, { description, text }: { description: string; text: string }): Promise<Served> {
  const path = uri.slice("skill://".length, -"/SKILL.md".length);
  // A JSON string is also a YAML string.
  const head = `---\nname: ${path.split("/").at(-1)}\ndescription: ${JSON.stringify(description)}\n---\n`;
  const file = `${head}\n${text}`;
  return { skill: await skillEntry(path, { "SKILL.md": file }), text: file };
}
