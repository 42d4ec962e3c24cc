/// <reference lib="dom" />
/**
 * The host protocol of an MCP App, for a display-only page: SEP-1865, revision 2026-01-26. Hand-written, because the
 * App class of ext-apps includes the whole client, 149 kB gzipped. Its types check this code, and the tests run
 * against its bridge.
 */
import type {
  McpUiHostContext,
  McpUiInitializedNotification,
  McpUiInitializeRequest,
  McpUiInitializeResult,
  McpUiSizeChangedNotification,
  McpUiToolResultNotification,
} from "@modelcontextprotocol/ext-apps";

export type HostContext = McpUiHostContext;
export type ToolResult = McpUiToolResultNotification["params"];

export interface Handlers {
  /** The host's theme, locale and sizes, merged: at the start and on every change. */
  onContext(context: HostContext): void;
  onResult(result: ToolResult): void;
  onCancelled(): void;
}

interface Message {
  id?: string | number;
  method?: string;
  params?: Record<string, unknown>;
  result?: unknown;
}

const INITIALIZE: McpUiInitializeRequest = {
  method: "ui/initialize",
  params: {
    appInfo: { name: "spending-chart", version: "1.0.0" },
    appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] },
    protocolVersion: "2026-01-26",
  },
};
const INITIALIZED: McpUiInitializedNotification = { method: "ui/notifications/initialized" };

/** Talks only to the window that frames this page. */
export function connectToHost({ onContext, onResult, onCancelled }: Handlers): void {
  let context: HostContext = {};
  const post = (message: object) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
  const update = (more: HostContext) => onContext(context = { ...context, ...more });

  addEventListener("message", ({ source, data }: MessageEvent<Message | undefined>) => {
    if (source !== parent || typeof data !== "object" || data === null) return;
    const { id, method, params = {} } = data;
    if (method === undefined) {
      if (id !== 0 || !data.result) return;
      update((data.result as McpUiInitializeResult).hostContext ?? {});
      post(INITIALIZED);
      reportSize(post);
    } else if (method === "ui/notifications/tool-result") onResult(params as ToolResult);
    else if (method === "ui/notifications/host-context-changed") update(params);
    else if (method === "ui/notifications/tool-cancelled") onCancelled();
    else if (id !== undefined) {
      const isKnown = method === "ping" || method === "ui/resource-teardown";
      post({ id, ...(isKnown ? { result: {} } : { error: { code: -32601, message: "Method not found" } }) });
    }
  });
  post({ id: 0, ...INITIALIZE });
}

/** Hosts set the frame's height to the value that its page requests. */
function reportSize(post: (message: McpUiSizeChangedNotification) => void): void {
  let last = "";
  const report = () => {
    const params = { width: innerWidth, height: Math.ceil(document.documentElement.getBoundingClientRect().height) };
    if (last === (last = JSON.stringify(params))) return;
    post({ method: "ui/notifications/size-changed", params });
  };
  new ResizeObserver(report).observe(document.documentElement);
  report();
}
