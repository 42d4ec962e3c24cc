/** Adds the events extension, which the SDK does not know, to a server through its handlers for custom methods. */
import {
  ProtocolError,
  ProtocolErrorCode,
  type Result,
  type Server,
  type ServerCapabilities,
} from "@modelcontextprotocol/server";
import * as z from "zod/mini";
import { describeError } from "../../../shared/log.ts";
import { type EventCall, type EventDeps, EventParams } from "./call.ts";

/** The extension's own name, which ChatGPT reads too. */
const CAPABILITIES = {
  events: {},
  extensions: { "io.modelcontextprotocol/events": {} },
} as ServerCapabilities;

type Methods = ReturnType<typeof import("./methods.ts").createEventMethods>;

export function registerEvents(server: Server, deps: EventDeps, call: EventCall): void {
  server.registerCapabilities(CAPABILITIES);
  const answer = async (work: (methods: Methods) => Result | Promise<Result>) => {
    try {
      return await work((await import("./methods.ts")).createEventMethods(deps));
    } catch (thrown) {
      if (thrown instanceof ProtocolError) throw thrown;
      deps.log.error("event_method_failure", { error: describeError(thrown) });
      throw new ProtocolError(ProtocolErrorCode.InternalError, deps.words.eventMethods.refusals.failed);
    }
  };
  server.setRequestHandler("events/list", { params: z.looseObject({}) }, () => answer((methods) => methods.list()));
  for (const method of ["poll", "subscribe", "unsubscribe"] as const) {
    server.setRequestHandler(
      `events/${method}`,
      { params: EventParams },
      (params) => answer((methods) => methods[method](call, params)),
    );
  }
}
