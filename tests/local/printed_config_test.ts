/**
 * What `deno task front-door` prints, as an operator gets it: nginx with TLS and a redirect, where it is installed,
 * whose functions get their address only after it has started. And what the command says when something is missing.
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { createSocket } from "node:dgram";
import { request as httpsRequest } from "node:https";
import { join } from "node:path";
import { SERVERS } from "../../local/front_door/server_config.ts";
import { freePort } from "../_support/free_port.ts";
import { waitFor } from "../_support/wait_for.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const SITE = "expenses.example.com";

/** Started by root, its workers would be somebody who may not use the test's folder. */
const NGINX_USER = Deno.uid() === 0 ? "user root; " : "";

const has = (name: string) =>
  new Deno.Command("sh", { args: ["-c", `command -v ${name}`], stdout: "null", stderr: "null" }).outputSync().success;

/** A name server that knows one address, once it is told to. */
async function nameServer() {
  const state = { knows: false, asked: 0 };
  const socket = createSocket("udp4");
  socket.on("message", (query: Uint8Array, from: { port: number; address: string }) => {
    state.asked++;
    const answer = new Uint8Array([
      ...query,
      ...(state.knows ? [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, 127, 0, 0, 1] : []),
    ]);
    answer[2] = 0x81;
    // NXDOMAIN, or no error.
    answer[3] = state.knows ? 0x80 : 0x83;
    answer[7] = state.knows ? 1 : 0;
    socket.send(answer, from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  return {
    state,
    port: socket.address().port,
    close: () => new Promise<void>((resolve) => socket.close(() => resolve())),
  };
}

/** An https request to the site's name on this machine; the certificate is its own. */
function ask(port: number, path: string): Promise<{ status: number; text: string; hsts: string | undefined }> {
  return new Promise((resolve, reject) => {
    const options = {
      host: "127.0.0.1",
      port,
      path,
      servername: SITE,
      headers: { host: SITE },
      rejectUnauthorized: false,
    };
    httpsRequest(options, (response) => {
      let text = "";
      response.on("data", (chunk: Uint8Array) => text += new TextDecoder().decode(chunk));
      response.on("end", () => {
        const hsts = response.headers["strict-transport-security"] as string | undefined;
        resolve({ status: response.statusCode!, text, hsts });
      });
    }).on("error", reject).end();
  });
}

/** A certificate for a name, by itself. */
async function certificate(folder: string, name: string): Promise<{ certPath: string; keyPath: string }> {
  await Deno.mkdir(folder, { recursive: true });
  const [certPath, keyPath] = [join(folder, "fullchain.pem"), join(folder, "privkey.pem")];
  const made = await new Deno.Command("openssl", {
    args: ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", `/CN=${name}`]
      .concat("-addext", `subjectAltName=DNS:${name}`, "-keyout", keyPath, "-out", certPath),
    stdout: "null",
    stderr: "null",
  }).output();
  assert(made.success);
  return { certPath, keyPath };
}

interface Site {
  folder: string;
  /** Ports. */
  plain: number;
  secure: number;
  names: Awaited<ReturnType<typeof nameServer>>;
}

/** nginx with what is printed, but for its ports, its name server and where its files are. */
async function withNginx(
  { functionsUrl, trusted = "" }: { functionsUrl: string; trusted?: string },
  use: (site: Site) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  const names = await nameServer();
  const [plain, secure] = [freePort(), freePort()];
  await certificate(folder, SITE);
  const server = SERVERS.nginx({ host: SITE, functionsUrl, secret: "secret" })
    .replace("listen 80;", `listen 127.0.0.1:${plain};`)
    .replace("listen 443 ssl", `listen 127.0.0.1:${secure} ssl`)
    .replaceAll(`/etc/letsencrypt/live/${SITE}`, folder)
    .replace("/var/log/nginx/expenses.log", join(folder, "access"))
    .replace("/var/www/html;", `${folder}/www;`)
    .replace("/etc/ssl/certs/ca-certificates.crt", trusted)
    .replace(/resolver [^;]*;/, `resolver 127.0.0.1:${names.port} valid=1s ipv6=off;`);
  const temp = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((one) => `${one}_temp_path ${folder}/${one};`);
  await Deno.writeTextFile(
    join(folder, "config"),
    `${NGINX_USER}pid ${folder}/pid; daemon off; events {} http { access_log ${folder}/default; ${
      temp.join(" ")
    } ${server} }`,
  );
  const child = new Deno.Command("nginx", {
    args: ["-e", join(folder, "errors"), "-c", join(folder, "config")],
    stdout: "null",
    stderr: "null",
  }).spawn();
  try {
    await waitFor(async () => await ask(secure, "/api/health").then(() => true, () => undefined), {
      deadlineMs: 20_000,
      everyMs: 50,
    });
    await use({ folder, plain, secure, names });
  } finally {
    child.kill("SIGTERM");
    await child.status;
    await names.close();
    await Deno.remove(folder, { recursive: true });
  }
}

const ignore = !has("nginx") || !has("openssl");

Deno.test({
  name: "nginx: TLS, a redirect from http, and functions whose address is looked up while it runs",
  ignore,
  async fn() {
    const functions = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      (request) => new Response(new URL(request.url).pathname + new URL(request.url).search),
    );
    const functionsUrl = `http://functions.test:${functions.addr.port}/functions/v1`;
    assertMatch(
      SERVERS.nginx({ host: SITE, functionsUrl, secret: "secret" }),
      /listen 443 ssl;[^]*ssl_certificate \/etc\/letsencrypt\/live\/expenses\.example\.com\/fullchain/,
    );
    await withNginx({ functionsUrl }, async ({ folder, plain, secure, names }) => {
      // So that certbot can renew the certificate while nginx has port 80.
      const challenge = "/.well-known/acme-challenge/token";
      await Deno.mkdir(join(folder, "www", challenge, ".."), { recursive: true });
      await Deno.writeTextFile(join(folder, "www", challenge), "for the authority");
      const answered = await fetch(`http://127.0.0.1:${plain}${challenge}`, { redirect: "manual" });
      assertEquals([answered.status, await answered.text()], [200, "for the authority"]);
      assertEquals((await ask(secure, "/api/health")).status, 502, "the name is unknown so far");
      names.state.knows = true;
      const answer = await waitFor(async () => {
        const one = await ask(secure, "/account/providers/x?y=1");
        return one.status === 200 ? one : undefined;
      }, { deadlineMs: 20_000, everyMs: 100 });
      assertEquals(answer.text, "/functions/v1/auth-callback/account/providers/x?y=1");
      assertMatch(answer.hsts ?? "", /max-age=\d{8}/);
      assert(names.state.asked > 1);
      const redirect = await fetch(`http://127.0.0.1:${plain}/login?x=1`, {
        redirect: "manual",
        headers: { host: SITE },
      });
      await redirect.body?.cancel();
      assertEquals([redirect.status, new URL(redirect.headers.get("location")!).pathname], [301, "/login"]);
    });
    await functions.shutdown();
  },
});

Deno.test({
  name: "nginx: functions with a certificate that is not trusted, or for another name, get no request",
  ignore,
  async fn() {
    const folder = await Deno.makeTempDir();
    const own = await certificate(join(folder, "own"), "functions.test");
    const another = await certificate(join(folder, "another"), "elsewhere.test");
    let asked = 0;
    const serve = async ({ certPath, keyPath }: typeof own) => {
      const [cert, key] = await Promise.all([Deno.readTextFile(certPath), Deno.readTextFile(keyPath)]);
      return Deno.serve({ hostname: "127.0.0.1", port: 0, cert, key, onListen() {} }, () => {
        asked++;
        return new Response("ok");
      });
    };
    const cases = [
      [own, another, 502, /upstream SSL certificate verify error/],
      [another, another, 502, /upstream SSL certificate does not match "functions\.test"/],
      [own, own, 200, /functions\.test could not be resolved/],
    ] as const;
    for (const [shown, { certPath: trusted }, status, said] of cases) {
      const functions = await serve(shown);
      const functionsUrl = `https://functions.test:${functions.addr.port}/functions/v1`;
      await withNginx({ functionsUrl, trusted }, async ({ folder, secure, names }) => {
        names.state.knows = true;
        // For a moment the name is still unknown, which is a 502 too.
        await waitFor(async () => {
          const one = await ask(secure, "/api/health");
          return one.status === status && said.test(await Deno.readTextFile(join(folder, "errors"))) || undefined;
        }, { deadlineMs: 20_000, everyMs: 100 });
        assertEquals(asked > 0, status === 200);
      });
      await functions.shutdown();
    }
    await Deno.remove(folder, { recursive: true });
  },
});

Deno.test({
  name: "nginx: the log has a request's path, method and id, and no query; a redirect from http leaves no line",
  ignore,
  async fn() {
    const functions = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, () => new Response("ok"));
    await withNginx({ functionsUrl: `http://127.0.0.1:${functions.addr.port}/functions/v1` }, async (site) => {
      assertEquals((await ask(site.secure, "/auth/callback?token_hash=SECRET&next=/a?b")).status, 200);
      const redirect = await fetch(`http://127.0.0.1:${site.plain}/auth/callback?token_hash=SECRET`, {
        redirect: "manual",
        headers: { host: SITE },
      });
      await redirect.body?.cancel();
      const lines = await waitFor(async () => {
        const text = await Deno.readTextFile(join(site.folder, "access"));
        return text.includes("/auth/callback") ? text : undefined;
      }, { deadlineMs: 20_000, everyMs: 50 });
      assertMatch(lines, /^127\.0\.0\.1 \[[^\]]+\] "GET \/auth\/callback" 200 [\d.]+ [0-9a-f]{32}$/m);
      const all = await Promise.all(["access", "default"].map((name) => Deno.readTextFile(join(site.folder, name))));
      assert(!all.join().includes("SECRET"), all.join());
    });
    await functions.shutdown();
  },
});

async function printCommand(...args: string[]) {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["task", "--quiet", "front-door", "--", ...args],
    cwd: ROOT,
    env: { NO_COLOR: "1", FRONT_DOOR_SECRET: "" },
    stdin: "null",
  }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, stdout: text(stdout), stderr: text(stderr) };
}

const PLACES = ["--site", `https://${SITE}`, "--functions", "https://project.supabase.co/functions/v1"];

Deno.test("deno task front-door: no placeholder goes unsaid, and an argument too many is refused", async () => {
  for (const args of [["caddy"], ["caddy", `https://${SITE}`], ["caddy", ...PLACES, "https://more.example"], PLACES]) {
    const { code, stdout, stderr } = await printCommand(...args);
    assertEquals([code, stdout], [1, ""], args.join(" "));
    assertMatch(stderr, /--site https:/);
  }
  const without = await printCommand("nginx", ...PLACES);
  assertEquals(without.code, 0);
  assertMatch(without.stderr, /FRONT_DOOR_SECRET is not set/);
  const path = await Deno.makeTempFile();
  await Deno.writeTextFile(path, "FRONT_DOOR_SECRET=the-first-one,the-second-one\n");
  const whole = await printCommand("nginx", ...PLACES, "--env-file", path);
  await Deno.remove(path);
  assertEquals([whole.code, whole.stderr], [0, ""]);
  assert(whole.stdout.includes('"the-first-one"') && !whole.stdout.includes("the-second-one"));
});

Deno.test("deno task front-door: Caddy serves plain http where the site is", async () => {
  const { stdout } = await printCommand("caddy", "--site", "http://127.0.0.1:8000", ...PLACES.slice(2));
  assertMatch(stdout, /^http:\/\/127\.0\.0\.1:8000 \{$/m);
});
