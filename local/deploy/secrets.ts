/**
 * The functions' secrets. Generates missing keys once and stores them in the settings file. Compares existing secrets
 * of the project by digest. If an operator deletes a setting's line, the project loses the setting, but never a key.
 */
import { createHash } from "node:crypto";
import { appendToEnvFile, envFile } from "./env_file.ts";
import { GENERATED, isFunctionSetting, listOf } from "./settings.ts";
import { apply, applyFile, type Deployment, type Outcome, type Step, StepError } from "./step.ts";

export const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

export const secrets: Step = {
  title: "Secrets of the functions",
  async run(deployment) {
    const { cli, values, say, project } = deployment;
    const { answer } = await cli.run(["secrets", "list", `--remote=${project}`]);
    const digests = new Map(
      (answer as { secrets: { name: string; value: string }[] }).secrets.map(({ name, value }) => [name, value]),
    );
    values.set("NEXT_PUBLIC_SITE_URL", deployment.siteUrl);
    const made = await makeMissing(deployment, digests);
    const different = [...values].filter(([name, value]) =>
      isFunctionSetting(name) && digests.get(name) !== sha256(value)
    );
    refuseReplaced(deployment, different, digests);
    const gone = [...digests.keys()].filter((name) =>
      isFunctionSetting(name) && !(name in GENERATED) && !values.has(name)
    );
    for (const [name] of different) {
      say(`  ${name} = ••• ${digests.has(name) ? "(changed)" : made.includes(name) ? "(made now)" : "(new)"}`);
    }
    for (const name of gone) say(`  ${name} (removed)`);
    const target = [`--remote=${project}`, "--yes"];
    let outcome: Outcome = "unchanged";
    if (different.length > 0) {
      outcome = await applyFile(deployment, {
        name: "secrets.env",
        text: envFile(different),
        args: (path) => ["secrets", "set", "--env-file", path, ...target],
      });
    }
    if (gone.length > 0) outcome = await apply(deployment, ["secrets", "unset", ...gone, ...target]);
    return outcome;
  },
};

/** Generates keys that both the file and the project lack. @returns their names. */
async function makeMissing(deployment: Deployment, digests: ReadonlyMap<string, string>): Promise<string[]> {
  const { values, envPath, isDryRun, replace, say } = deployment;
  const missing = Object.keys(GENERATED).filter((name) => !values.has(name));
  const lost = missing.filter((name) => digests.has(name) && !replace.includes(name));
  if (lost.length > 0) {
    throw new StepError(
      `${
        lost.join(", ")
      }: the project has a value that ${envPath} lacks. Copy it there from where you keep it; it is ` +
        `not made anew, since what was signed or sealed with it would be lost. To replace it all the same: --replace ${
          lost[0]
        }`,
    );
  }
  const made = new Map(missing.map((name) => [name, GENERATED[name]!()]));
  for (const [name, value] of made) values.set(name, value);
  if (made.size > 0 && !isDryRun) {
    // Writes the file first, because a key can't be read back from the project.
    await appendToEnvFile(envPath, made);
    say(`  ${[...made.keys()].join(", ")}: made, and kept in ${envPath}. Keep a copy of that file.`);
  }
  return missing;
}

/** Allows rotation only: the new list must contain the project's current keys, unless `--replace` names the key. */
function refuseReplaced(
  { replace, envPath }: Deployment,
  different: readonly [string, string][],
  digests: ReadonlyMap<string, string>,
): void {
  for (const [name, value] of different) {
    const digest = digests.get(name);
    if (!(name in GENERATED) || digest === undefined || replace.includes(name)) continue;
    if (!arrangements(listOf(value)).some((earlier) => sha256(earlier) === digest)) {
      throw new StepError(
        `${name} in ${envPath} is not the project's, nor a list with it. Add the new key second (old,new), so that ` +
          `nothing is lost; if you mean to replace or drop the old one: --replace ${name}`,
      );
    }
  }
}

/** Possible earlier values of a list: each of its entries, alone or in any order. */
function arrangements(entries: readonly string[]): string[] {
  if (entries.length > 4) return entries.slice();
  const lists = (rest: readonly string[]): string[][] =>
    rest.flatMap((
      entry,
    ) => [[entry], ...lists(rest.filter((other) => other !== entry)).map((more) => [entry, ...more])]);
  return lists(entries).map((list) => list.join(","));
}
