/** Checks that the tables of requirements and findings name existing tests. */
import { assert, assertEquals } from "@std/assert";

const README = await Deno.readTextFile(new URL("README.md", import.meta.url));
const FINDINGS = (await Deno.readTextFile(new URL("../../SECURITY.md", import.meta.url))).split("## Findings")[1]!;
const FILE = /^([\w./-]+\.tsx?)(?:: ?(.*))?$/;
/** A cell that names a command outside `deno task test`. */
const COMMAND = / ?\(`deno task [\w:]+`\)/;

/** The tests that a cell names: a file under tests/, and the words that identify a test in it. */
function* testsOf(cell: string): Generator<{ file: string; words: string }> {
  let file: string | undefined;
  for (const part of cell.replace(COMMAND, "").split(";").map((part) => part.trim())) {
    const named = FILE.exec(part);
    if (named) file = named[1]!;
    const words = named ? named[2] ?? "" : part;
    if (file && !words.startsWith("suite:") && !words.includes("`")) yield { file, words };
  }
}

const rowsOf = (text: string) =>
  text.split("\n").filter((line) => line.startsWith("|") && !/^\| ?(-|#|Requirement|Client|Finding)/.test(line))
    .map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim()));
const rows = rowsOf(README);
const findings = rowsOf(FINDINGS);
const newcomers = rowsOf(await Deno.readTextFile(new URL("../readme/README.md", import.meta.url)));

Deno.test("every row names an existing test", async () => {
  const missing: string[] = [];
  const texts = new Map<string, string>();
  for (const row of [...rows, ...findings, ...newcomers]) {
    for (const { file, words } of testsOf(row.at(-1)!)) {
      for (const folder of ["..", "."]) {
        const url = new URL(`${folder}/${file}`, import.meta.url);
        if (!texts.has(file)) await Deno.readTextFile(url).then((text) => texts.set(file, text), () => {});
      }
      const text = texts.get(file);
      if (!text || !(text.includes(words) || words.split(", ").every((some) => text.includes(some)))) {
        missing.push(`${file}: ${words}`);
      }
    }
  }
  assertEquals(missing, []);
});

Deno.test("every requirement and every attack has a row", () => {
  const ids = new Set(rows.map(([id]) => id));
  const expected = [
    ...Array.from({ length: 31 }, (_, n) => `A${n + 1}`),
    ...Array.from({ length: 40 }, (_, n) => `${n + 1}`),
    ...Array.from({ length: 13 }, (_, n) => `R${n + 1}`),
  ];
  assertEquals(expected.filter((id) => !ids.has(id)), []);
  assert(rows.length > 100);
  assert(findings.length > 20);
});
