/**
 * Adds the skills extension to a server. The SDK's own `attach` needs its high-level server, which would also list and
 * read our other resources, so these handlers serve the skills.
 */
import {
  type ReadResourceResult,
  type Resource,
  ResourceNotFoundError,
  type Server,
} from "@modelcontextprotocol/server";
import * as z from "zod/mini";
import type { Words } from "../../../shared/words/words.ts";
import { BASE, GUIDE_URI, MIME_TYPE } from "./uris.ts";

type Cache = { ttlMs: number; cacheScope: "private" };

export function registerSkills(server: Server, words: Words, cache: Cache): void {
  server.registerCapabilities({ extensions: { "io.modelcontextprotocol/skills": {} } });
  server.setRequestHandler(
    "skills/list",
    { params: z.looseObject({}) },
    async () => ({ skills: [...(await load(words)).values()].map(({ skill }) => skill), ...cache }),
  );
  server.setRequestHandler("skills/get", { params: z.looseObject({ uri: z.string() }) }, async ({ uri }) => {
    const found = (await load(words)).get(uri);
    if (!found) throw new ResourceNotFoundError(uri);
    return { skill: found.skill, ...cache };
  });
}

/** The guide, for clients without skills. */
export const guideResource = ({ connector }: Words): Resource => ({
  uri: GUIDE_URI,
  name: "bookkeeping",
  ...connector.guide,
  mimeType: MIME_TYPE,
});

/** @returns undefined unless a skill has this file. */
export async function readSkill(words: Words, uri: string): Promise<ReadResourceResult | undefined> {
  const found = uri.startsWith(BASE) && (await load(words)).get(uri);
  return found ? { contents: [{ uri, mimeType: MIME_TYPE, text: found.text }] } : undefined;
}

const load = async (words: Words) => (await import("./skills.ts")).skillsOf(words);
