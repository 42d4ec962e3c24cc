/// <reference lib="dom" />
/** A minimal MCP Apps host: an opaque-origin frame, and the ext-apps bridge that talks to it. */
import { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";

interface Shown {
  page: string;
  result: Record<string, unknown>;
  context: Record<string, unknown>;
}

declare global {
  var show: (shown: Shown) => Promise<void>;
  var change: (context: Record<string, unknown>) => void;
}

let bridge: AppBridge;

globalThis.show = async ({ page, result, context }) => {
  const frame = document.createElement("iframe");
  frame.sandbox.add("allow-scripts");
  frame.title = "Chart";
  document.body.replaceChildren(frame);
  bridge = new AppBridge(null, { name: "Test host", version: "1.0.0" }, {}, { hostContext: context });
  const initialized = new Promise<void>((resolve) => bridge.oninitialized = () => resolve());
  bridge.onsizechange = ({ height }) => {
    if (height) frame.style.height = `${height}px`;
  };
  await bridge.connect(new PostMessageTransport(frame.contentWindow!, frame.contentWindow!));
  frame.srcdoc = page;
  await initialized;
  await bridge.sendToolInput({ arguments: {} });
  await bridge.sendToolResult(result as Parameters<AppBridge["sendToolResult"]>[0]);
};
globalThis.change = (context) => bridge.setHostContext(context);
