/** The output of a run's processes, in a file: counted on arrival, searched at the end. */

import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";

/** Events of internal failures, except unavailability. */
const INTERNAL = /"event":"(tool_failure|mcp_failure)"|"code":"internal"/;

export interface Logs {
  path: string;
  take(from: string, text: string): void;
  /** Lines about unexpected failures, newest last; at most a hundred. */
  failures: string[];
  /** The log entries of these requests, by id. */
  linesOf(requestIds: string[]): Promise<string[]>;
  close(): void;
}

export function openLogs(path: string): Logs {
  const file = Deno.openSync(path, { create: true, write: true, truncate: true, mode: 0o600 });
  const encoder = new TextEncoder();
  const failures: string[] = [];
  return {
    path,
    failures,
    take(from, text) {
      file.writeSync(encoder.encode(text));
      for (const line of text.split("\n")) {
        if (INTERNAL.test(line) && failures.length < 100) failures.push(`${from}: ${line.slice(0, 600)}`);
      }
    },
    async linesOf(requestIds) {
      const lines: string[] = [];
      if (requestIds.length === 0) return lines;
      for await (const line of createInterface({ input: createReadStream(path) })) {
        if (requestIds.some((id) => line.includes(id))) lines.push(line);
      }
      return lines;
    },
    close: () => file.close(),
  };
}
