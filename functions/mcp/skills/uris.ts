/** The URIs of skills. */
export const BASE = "skill://expenses/";
export const GUIDE_URI = `${BASE}bookkeeping/SKILL.md`;
export const MIME_TYPE = "text/markdown";
