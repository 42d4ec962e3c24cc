/**
 * The order in which PostgreSQL can run the schema files: each after the files that create its dependencies. Bodies in
 * plpgsql need only the types of their variables, because PostgreSQL resolves other names at the first call.
 */

export interface SchemaFile {
  /** Relative to the project root. */
  path: string;
  sql: string;
}

const CREATED = /^create (?:or replace )?(?:schema|sequence|function|table|type|view) ([\w.]+)/gim;
const DESCRIPTION = /^comment on [^']*(?:'(?:[^']|'')*'\s*)+;/gim;
const BODY = /(?<=^language plpgsql[^$]*\$\$)[^]*?(?=^\$\$;)/gim;
const VARIABLE_TYPE = /^\s+\w+ (?:constant )?\w+\.\w+/gim;
/** `do` blocks that loop over tables of `app` name them in strings. */
const BLOCK = /^do \$\$[^]*?^\$\$;/gim;

/** @throws {Error} if two files need each other. */
export function inLoadOrder(files: readonly SchemaFile[]): SchemaFile[] {
  const sorted = files.toSorted((a, b) => a.path < b.path ? -1 : 1);
  const creators = new Map(sorted.flatMap((file) => [...file.sql.matchAll(CREATED)].map(([, name]) => [name!, file])));
  const ordered = new Set<SchemaFile>();
  const visit = (file: SchemaFile, waiting: SchemaFile[]): void => {
    if (ordered.has(file)) return;
    if (waiting.includes(file)) {
      const circle = [...waiting.slice(waiting.indexOf(file)), file].map(({ path }) => path);
      throw new Error(`These files need each other; move what they share into a file: ${circle.join(" needs ")}`);
    }
    for (const name of namesIn(file.sql)) {
      const creator = creators.get(name);
      if (creator && creator !== file) visit(creator, [...waiting, file]);
    }
    ordered.add(file);
  };
  for (const file of sorted) visit(file, []);
  return [...ordered];
}

/** `app.expenses` and its schema `app`, for each name that PostgreSQL looks up when it runs the file. */
function namesIn(sql: string): Set<string> {
  const looked = sql.replaceAll(/--.*/g, "").replaceAll(DESCRIPTION, "")
    .replaceAll(BLOCK, (block) => block.replaceAll(/'(\w+)'/g, "app.$1"))
    .replaceAll(BODY, (body) => (body.split(/^begin$/im)[0]!.match(VARIABLE_TYPE) ?? []).join("\n"));
  return new Set([...looked.matchAll(/\b(\w+)\.(\w+)/g)].flatMap(([name, schema]) => [schema!, name]));
}
