/** Checks the version of Deno. */

/** Major and minor of the first version with non-blocking file locks. */
const OLDEST = [2, 8] as const;

/** The message for an outdated Deno, otherwise undefined. @param version such as `2.9.6`. */
export function refuseOldDeno(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return undefined;
  return `Deno ${version} is too old: ${OLDEST.join(".")} or newer is needed. Try: npx -y deno@2.9.6 task start`;
}
