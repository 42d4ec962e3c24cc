/**
 * Logs to a file if standard error is a terminal, so that the welcome message stays visible. Our own failures also
 * appear on the terminal.
 */

/** @returns a function that writes one line; overwrites the file of an earlier run. */
export function openLogFile(path: string): (line: string) => void {
  const file = Deno.openSync(path, { create: true, write: true, truncate: true, mode: 0o600 });
  return (line) => {
    const bytes = new TextEncoder().encode(`${line}\n`);
    file.writeSync(bytes);
    if (line.includes('"event":"failure"')) Deno.stderr.writeSync(bytes);
  };
}
