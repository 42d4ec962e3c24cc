/** Loads page modules on demand: most visits need few, and cold starts must be fast. */
import type { Registry } from "../../shared/providers/registry.ts";
import { keep } from "../../shared/std/keep.ts";
import type { Handler, OpenPageDeps, PageDeps } from "./page_guards.ts";

/** Names of a module's exports that create handlers. */
type HandlerOf<Module> = {
  [Name in keyof Module]: Module[Name] extends (deps: PageDeps) => Handler ? Name : never;
}[keyof Module];

/** Creates handlers whose modules load on the first request for their page. @param providers for tests */
export function pageLoader(open: OpenPageDeps, providers?: Registry) {
  const complete = keep(async (): Promise<PageDeps> => {
    (await import("../../shared/oauth/known_makers.ts")).knowCallbacks(open.config.knownApps);
    return { ...open, providers: providers ?? (await import("../../shared/providers/registry.ts")).PROVIDERS };
  });
  return <Module>(load: () => Promise<Module>) => (name: HandlerOf<Module>): Handler => {
    const handler = keep(async () => {
      const create = (await load())[name] as (deps: PageDeps) => Handler;
      return create(await complete());
    });
    return async (c) => (await handler())(c);
  };
}
