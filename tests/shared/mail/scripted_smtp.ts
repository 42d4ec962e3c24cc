/** A mail server with scripted replies. Commands without a script succeed. */
import { createServer, type Socket } from "node:net";

export interface Script {
  /** Replies by line prefix; `greeting` is sent on connecting, `content` after a mail. */
  answers?: Readonly<Record<string, string>>;
  /** Delay before each reply. */
  delayMs?: number;
  /** Accepts connections but stays silent, or closes them immediately. */
  instead?: "silence" | "hang up";
}

export interface ScriptedServer {
  url: string;
  /** A test may change it at any time. */
  script: Script;
  /** Recipients of accepted mails. */
  taken: string[];
  connections: number;
  close(): void;
}

const GRANTED: Record<string, string> = { EHLO: "250 server", DATA: "354 go on", QUIT: "221 bye" };

export async function startScriptedServer(script: Script = {}): Promise<ScriptedServer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    scripted.connections++;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket)).on("error", () => {});
    if (scripted.script.instead === "hang up") socket.end();
    else if (!scripted.script.instead) converse(socket, scripted);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const scripted: ScriptedServer = {
    url: `smtp://127.0.0.1:${port}`,
    script,
    taken: [],
    connections: 0,
    close() {
      for (const socket of sockets) socket.destroy();
      // Not awaited, because Deno 2.1 does not report that it is closed.
      server.close();
    },
  };
  return scripted;
}

function converse(socket: Socket, server: ScriptedServer) {
  const say = (text: string) => setTimeout(() => socket.write(`${text}\r\n`), server.script.delayMs ?? 0);
  let rest = "";
  let recipient = "";
  let isInMail = false;
  const hear = (line: string) => {
    const { answers = {} } = server.script;
    if (isInMail) {
      if (line !== ".") return;
      isInMail = false;
      if (!answers.content) server.taken.push(recipient);
      return say(answers.content ?? "250 taken");
    }
    const [, answer] = Object.entries(answers).find(([command]) => line.startsWith(command)) ?? [];
    if (line.startsWith("RCPT TO")) recipient = /<(.*)>/.exec(line)![1]!;
    isInMail = line === "DATA" && !answer;
    say(answer ?? GRANTED[line.split(" ")[0]!] ?? "250 ok");
  };
  say(server.script.answers?.greeting ?? "220 server");
  socket.on("data", (chunk) => {
    const lines = (rest + chunk).split("\r\n");
    rest = lines.pop()!;
    for (const line of lines) hear(line);
  });
}
