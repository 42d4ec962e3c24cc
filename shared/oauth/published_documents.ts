/**
 * Metadata documents that the makers of well-known clients publish for everybody: the few that most people connect with, each by its
 * exact URL. They are there for everybody at all times, so no stranger can use up what it takes to read them.
 */
const PUBLISHED: ReadonlySet<string> = new Set([
  "https://claude.ai/oauth/mcp-oauth-client-metadata",
  "https://claude.ai/oauth/claude-code-client-metadata",
  "https://chatgpt.com/oauth/client.json",
  "https://chatgpt.com/oauth/codex/client.json",
  "https://vscode.dev/oauth/client-metadata.json",
]);

/** Whether a client's id is one of them. */
export const isPublishedDocument = (clientId: string): boolean => PUBLISHED.has(clientId);
