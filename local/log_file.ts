/** Where the stack's log goes while a person looks at the terminal: into a file, so that the welcome stays to be read. Errors are shown as well. */

/** @returns what writes one line; a file of an earlier run is begun anew. */
export function openLogFile(path: string): (line: string) => void {
  const file = Deno.openSync(path, { create: true, write: true, truncate: true, mode: 0o600 });
  return (line) => {
    const bytes = new TextEncoder().encode(`${line}\n`);
    file.writeSync(bytes);
    if (line.includes('"level":"error"')) Deno.stderr.writeSync(bytes);
  };
}
