/**
 * Databases in memory, all in one PGlite: a second one would take 300 MB and two seconds more. What runs on another
 * database than the last statement saves the state of that one, and restores its own.
 */
import { PGlite } from "@electric-sql/pglite";
import { extensions, parsers, pgliteDatabase, serializers } from "../../local/database/pglite.ts";
import type { SqlDatabase } from "../../local/database/sql.ts";
import { type Imaged, imaged, type ProcessImage } from "./process_image.ts";

interface Machine extends Imaged {
  database: SqlDatabase;
  owner?: Owner;
  /** What emscripten loaded at the first image; it knows libraries by itself, so what loads another keeps its PGlite. */
  libraries: number;
}
interface Owner {
  image?: ProcessImage;
  /** A PGlite of its own. */
  machine?: Machine;
}

/** What the migrations and tests use. */
const LIBRARIES = ["plpgsql", "pgcrypto", "citext"];
/** A PGlite that grew larger is not used again. */
const MOST_BYTES = 400 * 1024 * 1024;

let shared: Machine | undefined;
let turn: Promise<unknown> = Promise.resolve();

/** What the first one in this process begins with; the others are like it. */
interface Beginning {
  template: () => Promise<Blob>;
  prepare: (database: SqlDatabase) => Promise<unknown>;
}

export function databaseInMemory(beginning: Beginning): SqlDatabase {
  const owner: Owner = {};
  /** Statements and transactions of all databases, one after the other. */
  const inTurn = <Result>(work: (database: SqlDatabase) => Promise<Result>): Promise<Result> => {
    // PGlite sets an exit code at its start and after every SQL error, which would fail the test run.
    const result = turn.then(async () => await work((await machineOf(owner, beginning)).database))
      .finally(() => Deno.exitCode = 0);
    turn = result.catch(() => {});
    return result;
  };
  return {
    query: <Result extends object>(sql: string, params?: readonly unknown[]) =>
      inTurn((database) => database.query<Result>(sql, params)),
    exec: (sql) => inTurn((database) => database.exec(sql)),
    transaction: (work) => inTurn((database) => database.transaction(work)),
    listen: (channel, onNotify) =>
      inTurn(async (database) => {
        keep(owner);
        await database.listen(channel, onNotify);
      }),
    async close() {
      const closing = turn.then(() => release(owner)).finally(() => Deno.exitCode = 0);
      turn = closing.catch(() => {});
      await closing;
    },
  };
}

async function machineOf(owner: Owner, beginning: Beginning): Promise<Machine> {
  if (owner.machine) return owner.machine;
  if (shared && shared.owner !== owner && isSpoiled(shared)) {
    if (shared.owner) keep(shared.owner);
    else await shared.database.close();
    shared = undefined;
  }
  const machine = shared ??= await start(beginning);
  if (machine.owner === owner) return machine;
  if (machine.owner) machine.owner.image = machine.save();
  machine.restore(owner.image ?? machine.first);
  owner.image = undefined;
  machine.owner = owner;
  return machine;
}

/** Leaves the shared PGlite to the one whose state it has. */
function keep(owner: Owner): void {
  if (shared?.owner !== owner) return;
  owner.machine = shared;
  shared = undefined;
}

async function release(owner: Owner): Promise<void> {
  owner.image = undefined;
  if (shared?.owner === owner) shared.owner = undefined;
  await owner.machine?.database.close();
}

const isSpoiled = (machine: Machine) => instances !== machine.libraries || machine.memoryBytes() > MOST_BYTES;

/** WebAssembly instances made at once, which is how PGlite loads a library. */
let instances = 0;
const Instance = WebAssembly.Instance;
WebAssembly.Instance = class extends Instance {
  constructor(...args: ConstructorParameters<typeof Instance>) {
    super(...args);
    instances++;
  }
};

async function start({ template, prepare }: Beginning): Promise<Machine> {
  const pglite = new PGlite({ loadDataDir: await template(), extensions, parsers, serializers });
  const database = await pgliteDatabase(pglite);
  await database.exec(LIBRARIES.map((name) => `load '${name}';`).join(" "));
  await prepare(database);
  return { database, libraries: instances, ...imaged(pglite) };
}
