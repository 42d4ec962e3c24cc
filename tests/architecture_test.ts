/** Checks the architecture rules on the sources, and each rule on a project that breaks it. */
import { assert, assertEquals } from "@std/assert";
import { importRules } from "./architecture/imports.ts";
import { mentionRules } from "./architecture/mentions.ts";
import { parseProject, readProject } from "./architecture/project.ts";
import { shapeRules } from "./architecture/shape.ts";

const texts = await readProject();

for (const rule of [...importRules, ...mentionRules, ...shapeRules]) {
  Deno.test(`architecture: ${rule.name}`, () => {
    assertEquals(rule.violations(parseProject(texts)), []);
    for (const [path, text] of Object.entries(rule.planted)) {
      const found = rule.violations(parseProject(new Map([...texts, [path, text]])));
      assert(found.some((violation) => violation.startsWith(path)), `what is planted in ${path} is not found`);
    }
  });
}
