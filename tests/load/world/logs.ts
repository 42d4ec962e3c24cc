/** What the processes of a run write, kept in a file: counted as it comes, searched when it is over. */

/** Events that mean that something went wrong inside; what is unavailable is none. */
const INTERNAL = /"event":"(tool_failure|mcp_failure)"|"code":"internal"/;

export interface Logs {
  path: string;
  take(from: string, text: string): void;
  /** Lines that tell of a failure that nobody expects, newest last; at most a hundred. */
  failures: string[];
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
    close: () => file.close(),
  };
}
