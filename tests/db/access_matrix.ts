/** Turns access_matrix.md into pgTAP: tests each caller's access by an attempt instead of reading the catalog. */

export interface Matrix {
  /** Four-letter cells by caller, by table. */
  tables: Map<string, Record<string, string>>;
  /** The same for rows hidden from some people: in a private category, or of other members under own-only access. */
  private: Map<string, Record<string, string>>;
  ownOnly: Map<string, Record<string, string>>;
  /** Whether a role may select, by role, by view. */
  views: Map<string, Record<string, string>>;
  /** Columns that `authenticated` may update, by table, unless it may update all. */
  columns: Map<string, string[]>;
  /** Functions that `authenticated` may execute, as `schema.name`, besides those of `app` that run as their caller. */
  functions: string[];
  /** Functions of `app` that run as their caller and that `authenticated` may not execute, in the same form. */
  serviceFunctions: string[];
}

const ORGANIZATION = "org_00000000000a";
const person = (last: string) => `00000000-0000-4000-8000-00000000000${last}`;

/** The matrix's callers: database role and claims, as the connector sets them. */
export const CALLERS: Record<string, { role: string; claims: Record<string, string> }> = {
  anon: { role: "anon", claims: {} },
  member: { role: "authenticated", claims: { sub: person("b"), organization_id: ORGANIZATION } },
  other: { role: "authenticated", claims: { sub: person("d"), organization_id: "org_00000000000b" } },
  removed: { role: "authenticated", claims: { sub: person("c"), organization_id: ORGANIZATION } },
  owner: { role: "authenticated", claims: { sub: person("a"), organization_id: ORGANIZATION } },
  manager: { role: "authenticated", claims: { sub: person("e"), organization_id: ORGANIZATION } },
  viewer: { role: "authenticated", claims: { sub: person("f"), organization_id: ORGANIZATION } },
  reading: {
    role: "authenticated",
    claims: { sub: person("a"), organization_id: ORGANIZATION, grant_id: "00000000-0000-4000-8000-000000000003" },
  },
  opened: { role: "authenticated", claims: { sub: person("9"), organization_id: ORGANIZATION } },
  service: { role: "service_role", claims: {} },
};

const VERBS = ["select", "insert", "update", "delete"];

export function parseMatrix(markdown: string): Matrix {
  const tables = parseTables(markdown);
  const of = (heading: string) => new Map(tables.get(heading)!.map(({ [heading]: key, ...cells }) => [key!, cells]));
  const listed = (cells: Record<string, string>) =>
    Object.values(cells).join(",").split(",").map((name) => name.trim());
  const [functions = [], serviceFunctions = []] = [...markdown.matchAll(/```\n([^`]*)```/g)].map(([, text]) =>
    parseFunctions(text!)
  );
  return {
    tables: of("Table"),
    private: of("Private rows of"),
    ownOnly: of("Rows of others in"),
    views: of("View"),
    columns: new Map([...of("Columns of")].map(([table, cells]) => [table, listed(cells).toSorted()])),
    functions,
    serviceFunctions,
  };
}

/** Markdown tables by their first heading; rows by heading. */
function parseTables(markdown: string): Map<string, Record<string, string>[]> {
  const blocks = markdown.split(/\n\n+/).filter((block) => block.startsWith("|"));
  return new Map(blocks.map((block) => {
    const [heading, , ...rows] = block.trim().split("\n").map((line) =>
      line.split("|").slice(1, -1).map((cell) => cell.trim())
    );
    return [heading![0]!, rows.map((row) => Object.fromEntries(heading!.map((name, index) => [name, row[index]!])))];
  }));
}

/** Lines of `schema: name name …`; continuation lines are indented. */
function parseFunctions(text: string): string[] {
  return text.replaceAll(/\n +/g, " ").split("\n").filter(Boolean).flatMap((line) => {
    const [schema, names = ""] = line.split(": ");
    return names.split(" ").map((name) => `${schema}.${name}`);
  });
}

const quote = (text: string) => `'${text.replaceAll("'", "''")}'`;
const list = (values: readonly string[]) => `array[${values.map(quote).join(", ")}]::text[]`;

/** Tests one table: every caller with a cell, every verb. Requires the fixtures and the probe. */
export function accessTests(table: string, cells: Record<string, string>): string {
  const tests = Object.entries(CALLERS).filter(([name]) => name in cells).flatMap(([name, { role, claims }]) =>
    VERBS.map((verb, index) => {
      const probe = `pg_temp.reach(${quote(role)}, ${quote(JSON.stringify(claims))}, ${quote(verb)}, ${quote(table)})`;
      const expected = cells[name]?.[index] ?? "?";
      return `select is(${probe}, ${quote(expected)}, ${quote(`${name}: ${verb} ${table}`)});`;
    })
  );
  return ["select no_plan();", ...tests, "select * from finish();"].join("\n");
}

const OURS = `('public', 'identity', 'oauth', 'billing', 'app', 'jobs')`;

/** Tests that the matrix is complete and that each table has a row to reach. */
export function completenessTests(matrix: Matrix): string {
  const relations = (kinds: string) =>
    `select c.oid::regclass::text from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
     where n.nspname in ${OURS} and c.relkind in (${kinds})`;
  const functions = (which: string, not: string) =>
    `select distinct n.nspname || '.' || p.proname from pg_proc as p join pg_namespace as n on n.oid = p.pronamespace
     where n.nspname in ${OURS} and ${which} ${not} has_function_privilege('authenticated', p.oid, 'execute')`;
  const views = [...matrix.views].flatMap(([view, cells]) =>
    Object.entries(cells).map(([role, cell]) =>
      `select is(has_table_privilege(${quote(role === "service" ? "service_role" : role)}, ${quote(view)}, 'select'), ${
        cell === "S"
      }, ${quote(`${role}: select ${view}`)});`
    )
  );
  return `select no_plan();
    select set_eq($$ ${relations("'r', 'p'")} $$, ${list([...matrix.tables.keys()])}, 'the matrix lists every table');
    select set_eq($$
      select format('app.%I', relname) from pg_class as c
      where relnamespace = 'app'::regnamespace and relkind = 'r' and exists (
        select from pg_policy as p where p.polrelid = c.oid and pg_get_expr(p.polqual, p.polrelid) like '%organization_id%'
      ) $$, ${list([...matrix.private.keys()])}, 'the matrix lists the private rows of every table of the books');
    select set_eq($$ select unnest(${list([...matrix.private.keys()])}) $$, ${
    list([...matrix.ownOnly.keys()])
  }, 'and the rows of others');
    select set_eq($$ ${relations("'v', 'm'")} $$, ${list([...matrix.views.keys()])}, 'the matrix lists every view');
    select is_empty($$ select relation from subject_rows where places is null $$, 'every table has a row to reach');
    ${views.join("\n")}
    select set_eq($$ ${functions("(n.nspname <> 'app' or p.prosecdef) and", "")} $$, ${list(matrix.functions)},
      'the matrix lists every function that signed-in people may execute, besides those of app that run as their caller');
    select set_eq($$ ${functions("n.nspname = 'app' and not p.prosecdef and", "not")} $$, ${
    list(matrix.serviceFunctions)
  },
      'the matrix lists every function of app that runs as its caller and is only for the service');
    select set_eq($$
      select a.attrelid::regclass || '.' || a.attname from pg_attribute as a join pg_class as c on c.oid = a.attrelid
      join pg_namespace as n on n.oid = c.relnamespace
      where n.nspname in ${OURS} and c.relkind in ('r', 'p') and a.attnum > 0 and not a.attisdropped
        and has_column_privilege('authenticated', c.oid, a.attnum, 'update') and not has_table_privilege('authenticated', c.oid, 'update') $$,
      ${list([...matrix.columns].flatMap(([table, columns]) => columns.map((column) => `${table}.${column}`)))},
      'the matrix lists every column that signed-in people may update where it is not the whole row');
    select * from finish();`;
}
