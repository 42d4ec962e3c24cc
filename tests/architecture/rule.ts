/** An architecture rule, with a project that breaks it, so that the rule itself is tested. */
import type { Mention, Project, SourceFile } from "./project.ts";

export interface Rule {
  name: string;
  /** One line per violation, starting with the path. */
  violations(project: Project): string[];
  /** Files to add or replace; the rule must report each. */
  planted: Record<string, string>;
}

/** A rule that checks one file at a time. */
export function eachFile(
  name: string,
  { where, planted, violations }: {
    where: RegExp;
    planted: Rule["planted"];
    violations(file: SourceFile, project: Project): string[];
  },
): Rule {
  return {
    name,
    planted,
    violations: (project) =>
      project.files.filter(({ path }) => where.test(path)).flatMap((file) =>
        violations(file, project).map((violation) => `${file.path}${violation}`)
      ),
  };
}

/** A rule that only certain places may mention certain names. */
export function onlyIn(
  name: string,
  { mention, places, where, planted }: {
    mention: RegExp;
    /** Paths that may mention them. */
    places: RegExp;
    /** Paths that the rule checks. */
    where: RegExp;
    planted: Rule["planted"];
  },
): Rule {
  return eachFile(name, {
    where,
    planted,
    violations: ({ path, mentions }) =>
      places.test(path) ? [] : mentions.filter((one) => mention.test(one.name)).map(describe),
  });
}

const describe = ({ name, line }: Mention) => `:${line} mentions ${name}`;
