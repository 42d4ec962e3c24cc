/** Every parser of ours that reads untrusted text, with the longest text that reaches it. */
import type { Parser } from "./parsers/limits.ts";
import { DOCUMENT_PARSERS } from "./parsers/documents.ts";
import { FILE_PARSERS } from "./parsers/files.ts";
import { MESSAGE_PARSERS } from "./parsers/messages.ts";
import { REQUEST_PARSERS } from "./parsers/requests.ts";
import { ANSWER_PARSERS } from "./parsers/answers.ts";

export const PARSERS: readonly Parser[] = [
  ...FILE_PARSERS,
  ...DOCUMENT_PARSERS,
  ...MESSAGE_PARSERS,
  ...REQUEST_PARSERS,
  ...ANSWER_PARSERS,
];
