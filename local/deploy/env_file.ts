/** The file with a deployment's settings: read, and extended by generated keys. */

/** A file that can't be read as settings; the message names the line, never its value. */
export class EnvFileError extends Error {
  override readonly name = "EnvFileError";
}

/** The values by name, without surrounding quotes. @throws {EnvFileError} */
export function parseEnvFile(text: string): Map<string, string> {
  const values = new Map<string, string>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const trimmed = line.trim();
    if (!trimmed || trimmed.startsWith("#")) continue;
    const equals = trimmed.indexOf("=");
    const name = trimmed.slice(0, Math.max(equals, 0)).trim();
    if (!/^[A-Z][A-Z0-9_]*$/.test(name)) throw new EnvFileError(`Line ${index + 1} is not NAME=value.`);
    if (values.has(name)) throw new EnvFileError(`${name} is there twice (line ${index + 1}).`);
    values.set(name, unquoted(trimmed.slice(equals + 1).trim(), name));
  }
  return values;
}

function unquoted(value: string, name: string): string {
  const quote = value[0];
  if (quote !== '"' && quote !== "'") return value.replace(/\s+#.*$/, "");
  const end = value.indexOf(quote, 1);
  if (end < 0) throw new EnvFileError(`The quotation mark of ${name} is not closed.`);
  return value.slice(1, end);
}

/** Serializes values in the format that the CLI reads. */
export const envFile = (values: Iterable<readonly [string, string]>): string =>
  [...values].map(([name, value]) => `${name}=${value.includes("'") ? `"${value}"` : `'${value}'`}\n`).join("");

/** Appends lines by replacing the file atomically. Only the owner may read it. */
export async function appendToEnvFile(path: string, values: ReadonlyMap<string, string>): Promise<void> {
  const before = await Deno.readTextFile(path).catch(() => "");
  const separator = before === "" || before.endsWith("\n") ? "" : "\n";
  const draft = `${path}.new`;
  await Deno.writeTextFile(draft, before + separator + envFile(values), { mode: 0o600 });
  await Deno.rename(draft, path);
}
