/** Name and protocol revisions of this server, in both protocol eras and on the server card. */
import { SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/server";
import type { Words } from "../../shared/words/words.ts";

export const serverInfo = ({ connector }: Words) => ({ name: "expenses", title: connector.title, version: "1.0.0" });

/** Supported revisions: the one without sessions, then those with a handshake, newest first. */
export const PROTOCOL_VERSIONS = ["2026-07-28", ...SUPPORTED_PROTOCOL_VERSIONS];
