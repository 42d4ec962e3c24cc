/** Which Deno runs the embedded stack. */

/** Major and minor of the first with file locks that don't wait. */
const OLDEST = [2, 8] as const;

/** What to tell somebody whose Deno is too old, or undefined. @param version such as `2.9.6`. */
export function refuseOldDeno(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return undefined;
  return `Deno ${version} is too old: ${OLDEST.join(".")} or newer is needed. Try: npx -y deno@2.9.6 task start`;
}
