/**
 * The functions as on the platform: each instance in its own process, replaced when it ends. Several instances of one
 * function take turns.
 */
import { start, type Started } from "../../../bench/measure/processes.ts";
import { functionModule } from "../../../bench/hops/world.ts";
import { type Slug, SLUGS } from "../../../shared/routes.ts";

/** The grace period for an instance's running requests. */
const DRAIN_MS = 3_000;
const BOOT = new URL("boot.ts", import.meta.url).pathname;

export interface Instance extends Started {
  /** `server` when one process serves all functions. */
  slug: Slug | "server";
}

export interface Functions {
  /** The instance whose turn it is. @throws if none is running at this moment */
  instanceOf(slug: Slug): Instance;
  all(): Instance[];
  /** Kills one immediately; the next one is running about a second later. */
  kill(slug: Slug): Promise<void>;
  /** Starts one more, with additional environment variables, before the old ones end (`replace`) or beside them. */
  add(slug: Slug, options?: { env?: Record<string, string>; root?: URL; replace?: boolean }): Promise<void>;
  /** Restarts all, one after the other, with an environment that may have changed. */
  replaceAll(): Promise<void>;
}

/** @param environment read at each start @param onLog an instance's output */
export async function startFunctions(
  { environment, onLog, slugs = SLUGS }: {
    environment: () => Record<string, string>;
    onLog: (slug: Slug, text: string) => void;
    slugs?: readonly Slug[];
  },
): Promise<Functions> {
  const instances = new Map<Slug, Instance[]>(slugs.map((slug) => [slug, []]));
  const turns = new Map<Slug, number>();

  async function launch(slug: Slug, env: Record<string, string> = {}, root?: URL): Promise<Instance> {
    const module = root ? new URL(`functions/${slug}/index.ts`, root).href : functionModule(slug);
    const started = await start(
      Deno.execPath(),
      ["run", "--quiet", "--no-check", "--v8-flags=--expose-gc", "-A", BOOT, module],
      {
        env: { ...environment(), ...env },
        onLog: (text) => onLog(slug, text),
      },
    );
    return { ...started, slug };
  }
  const functions: Functions = {
    instanceOf(slug) {
      const alive = instances.get(slug) ?? [];
      const turn = (turns.get(slug) ?? 0) + 1;
      turns.set(slug, turn);
      const instance = alive[turn % alive.length];
      if (!instance) throw new TypeError(`no instance of ${slug}`);
      return instance;
    },
    all: () => [...instances.values()].flat(),
    async kill(slug) {
      const [ended, ...others] = instances.get(slug)!;
      instances.set(slug, others);
      await ended?.kill();
      instances.get(slug)!.push(await launch(slug));
    },
    async add(slug, { env, root, replace = false } = {}) {
      const old = instances.get(slug)!;
      const added = await launch(slug, env, root);
      instances.set(slug, replace ? [added] : [...old, added]);
      if (!replace) return;
      // It may finish its running requests.
      await new Promise((resolve) => setTimeout(resolve, DRAIN_MS));
      for (const one of old) await one.stop();
    },
    async replaceAll() {
      for (const slug of slugs) await functions.add(slug, { replace: true });
    },
  };
  await Promise.all(slugs.map((slug) => functions.add(slug)));
  return functions;
}
