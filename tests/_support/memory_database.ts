/**
 * Databases in memory, all in one PGlite, because a second instance would take 300 MB and two seconds. Switching
 * databases saves the current state and restores the other one.
 */
import { PGlite } from "@electric-sql/pglite";
import { extensions, parsers, pgliteDatabase, serializers } from "../../local/database/pglite.ts";
import type { SqlDatabase } from "../../local/database/sql.ts";
import { collectGarbage } from "./collect_garbage.ts";
import { type Imaged, imaged, type ProcessImage } from "./process_image.ts";

interface Machine extends Imaged {
  database: SqlDatabase;
  /** The database whose state is loaded. */
  current?: Owner;
  /** Open databases that started on this instance; their images fit no other instance. */
  owners: Set<Owner>;
  /** Libraries loaded since the first image. Emscripten keeps its own list, which no image restores. */
  loaded: number;
  /** Accepts no new databases. */
  isSpoiled: boolean;
}
interface Owner {
  machine?: Machine;
  image?: ProcessImage & { loaded: number };
}

/** Extensions of the migrations and tests. */
const LIBRARIES = ["plpgsql", "pgcrypto", "citext"];
/** New databases don't start on a larger PGlite. */
const MOST_BYTES = 400 * 1024 * 1024;

let shared: Machine | undefined;
let turn: Promise<unknown> = Promise.resolve();

/** The initial state of the first database in this process; the others copy it. */
interface Beginning {
  template: () => Promise<Blob>;
  prepare: (database: SqlDatabase) => Promise<unknown>;
}

export function databaseInMemory(beginning: Beginning): SqlDatabase {
  const owner: Owner = {};
  /** Statements and transactions of all databases, in sequence. */
  const inTurn = <Result>(work: (machine: Machine) => Promise<Result>): Promise<Result> => {
    // PGlite sets an exit code at its start and after every SQL error, which would fail the test run.
    const result = turn.then(async () => {
      const machine = await machineOf(owner, beginning);
      const before = libraries;
      return await work(machine).finally(() => machine.loaded += libraries - before);
    }).finally(() => Deno.exitCode = 0);
    turn = result.catch(() => {});
    return result;
  };
  return {
    query: <Result extends object>(sql: string, params?: readonly unknown[]) =>
      inTurn(({ database }) => database.query<Result>(sql, params)),
    exec: (sql) => inTurn(({ database }) => database.exec(sql)),
    transaction: (work) => inTurn(({ database }) => database.transaction(work)),
    listen: (channel, onNotify) =>
      inTurn(async (machine) => {
        machine.isSpoiled = true;
        await machine.database.listen(channel, onNotify);
      }),
    async close() {
      const closing = turn.then(() => release(owner)).finally(() => Deno.exitCode = 0);
      turn = closing.catch(() => {});
      await closing;
    },
  };
}

async function machineOf(owner: Owner, beginning: Beginning): Promise<Machine> {
  if (!owner.machine) {
    if (shared && (shared.isSpoiled || shared.loaded > 0 || shared.memoryBytes() > MOST_BYTES)) await leaveShared();
    owner.machine = shared ??= await start(beginning);
    owner.machine.owners.add(owner);
  }
  const machine = owner.machine;
  if (machine.current === owner) return machine;
  if (machine.loaded !== (owner.image?.loaded ?? 0)) {
    throw new Error("Another database in this process loaded a library: add it to LIBRARIES in memory_database.ts");
  }
  if (machine.current) machine.current.image = { ...machine.save(), loaded: machine.loaded };
  machine.restore(owner.image ?? machine.first);
  owner.image = undefined;
  machine.current = owner;
  return machine;
}

/** The instance closes with its last database. */
async function leaveShared(): Promise<void> {
  const left = shared!;
  shared = undefined;
  if (left.owners.size === 0) await stop(left);
}

async function release(owner: Owner): Promise<void> {
  const { machine } = owner;
  if (!machine) return;
  owner.image = undefined;
  machine.owners.delete(owner);
  if (machine.current === owner) machine.current = undefined;
  if (machine !== shared && machine.owners.size === 0) await stop(machine);
}

async function stop({ database }: Machine): Promise<void> {
  await database.close();
  // V8 does not count WebAssembly memory, so it would release the memory only after minutes.
  collectGarbage?.();
}

/** How many libraries PGlite loaded in this process. */
let libraries = 0;
const Instance = WebAssembly.Instance;
WebAssembly.Instance = class extends Instance {
  constructor(module: WebAssembly.Module, imports?: WebAssembly.Imports) {
    super(module, imports);
    // Other code creates instances too, but only libraries are linked.
    if (imports && "GOT.mem" in imports) libraries++;
  }
};

async function start({ template, prepare }: Beginning): Promise<Machine> {
  const pglite = new PGlite({ loadDataDir: await template(), extensions, parsers, serializers });
  const database = await pgliteDatabase(pglite);
  await database.exec(LIBRARIES.map((name) => `load '${name}';`).join(" "));
  await prepare(database);
  return { database, owners: new Set(), loaded: 0, isSpoiled: false, ...imaged(pglite) };
}
