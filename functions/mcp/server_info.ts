/** Name, icons and protocol revisions of this server, in both protocol eras and on the server card. */
import { type Implementation, SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/server";
import { ICON_FILES } from "../../shared/pages/icon_files.ts";
import type { Words } from "../../shared/words/words.ts";

export const serverInfo = ({ connector }: Words): Implementation => ({
  name: "expenses",
  title: connector.title,
  version: "1.0.0",
});

/**
 * Information that a client reads once. The revision 2026-07-28 repeats the server's identity in every result, so only
 * the answers to these methods contain the links.
 */
export const INTRODUCTIONS: readonly unknown[] = ["initialize", "server/discover"];

export const introduction = (words: Words, siteUrl: string): Implementation => ({
  ...serverInfo(words),
  websiteUrl: siteUrl,
  icons: ICON_FILES.map(({ name, type, sizes, theme }) => ({
    src: `${siteUrl}/icons/${name}`,
    mimeType: type,
    sizes: [sizes],
    theme,
  })),
});

/** Supported revisions: the one without sessions, then those with a handshake, newest first. */
export const PROTOCOL_VERSIONS = ["2026-07-28", ...SUPPORTED_PROTOCOL_VERSIONS];
