/**
 * The part of the platform's management API that a deployment uses. It stores settings and secrets, runs SQL on the
 * given database, stores uploads unchanged in a folder, and checks them like the real API before bundling. It needs no
 * account and no network.
 */
import { dirname, join } from "node:path";
import { postgresDatabase } from "../../local/database/postgres.ts";
import { newSettings, type ProjectSettings } from "./project_settings.ts";

/** Twenty lower-case letters, like a project reference. */
export const PROJECT = "abcdefghijklmnopqrst";
/** In the form of a personal access token, but without any access. */
export const TOKEN = "sbp_" + "0".repeat(40);

const NO_POOL = {
  db_pool: null,
  db_pool_acquisition_timeout: null,
  db_pool_max_lifetime: null,
  db_pool_max_idletime: null,
};

export interface Upload {
  slug: string;
  /** The CLI's metadata of the function; `verify_jwt` is absent when the configuration does not set it. */
  metadata: { name?: string; entrypoint_path?: string; import_map_path?: string; verify_jwt?: boolean };
  /** Paths relative to the project. */
  files: { path: string; bytes: number }[];
  /** The folder of the files. */
  folder: string;
}

export interface ManagementApi {
  url: string;
  /** Path of a CLI profile that points here. */
  profile: string;
  /** The last upload, by slug. */
  uploads: Map<string, Upload>;
  /** Slugs activated at the end. */
  live: Set<string>;
  settings: ProjectSettings;
  /** Each request that changes something: method and path within the project. */
  writes: string[];
  /** Raises the version of a function, like a deployment from elsewhere. */
  bump(slug: string): void;
  /** Makes the next request of this kind fail: `POST /secrets`. */
  failNext(kind: string, failure?: { status: number; message: string }): void;
  /** Performs the next request of this kind, but loses the response. */
  loseNext(kind: string): void;
  /** Holds the response to the next request of this kind until `release`; resolves when the request has arrived. */
  holdNext(kind: string): { came: Promise<void>; release(): void };
  close(): Promise<void>;
}

/**
 * @param folder an empty one, for the profile and the uploads
 * @param databaseUrl the database for SQL, as the owner of the schemas; omitted for no database
 */
export async function startManagementApi(folder: string, databaseUrl?: string): Promise<ManagementApi> {
  const uploads = new Map<string, Upload>();
  const live = new Set<string>();
  const versions = new Map<string, number>();
  const settings = newSettings(PROJECT);
  const writes: string[] = [];
  const failures = new Map<string, { status: number; message: string }>();
  const lost = new Set<string>();
  const held = new Map<string, { came(): void; released: Promise<void> }>();
  const database = databaseUrl ? postgresDatabase(databaseUrl, { max: 1 }) : undefined;

  async function runSql({ query, read_only }: { query: string; read_only?: boolean }): Promise<Response> {
    try {
      const rows = await database!.transaction(async (session) => {
        if (read_only) await session.query("set transaction read only");
        return await session.query(query);
      });
      return Response.json(rows, { status: 201 });
    } catch (thrown) {
      return Response.json({ message: `Failed to run sql query: ERROR: ${(thrown as Error).message}` }, {
        status: 400,
      });
    }
  }

  async function deploy(request: Request, slug: string, isLast: boolean): Promise<Response> {
    const form = await request.formData();
    const metadata = form.get("metadata");
    const upload: Upload = {
      slug,
      metadata: JSON.parse(metadata instanceof File ? await metadata.text() : String(metadata)),
      files: [],
      folder: join(folder, slug),
    };
    for (const part of form.getAll("file")) {
      if (!(part instanceof File) || part.name.startsWith("/") || part.name.split("/").includes("..")) {
        return Response.json({ message: "A part is no file of the project" }, { status: 400 });
      }
      const path = join(upload.folder, part.name);
      await Deno.mkdir(dirname(path), { recursive: true });
      await Deno.writeFile(path, new Uint8Array(await part.arrayBuffer()));
      upload.files.push({ path: part.name, bytes: part.size });
    }
    for (const named of [upload.metadata.entrypoint_path, upload.metadata.import_map_path]) {
      if (named && !upload.files.some(({ path }) => path === named)) {
        return Response.json({ message: `${named} was not uploaded` }, { status: 400 });
      }
    }
    uploads.set(slug, upload);
    versions.set(slug, (versions.get(slug) ?? 0) + 1);
    if (isLast) live.add(slug);
    return Response.json(describe(upload, versions.get(slug)!), { status: 201 });
  }

  async function answer(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    if (request.headers.get("authorization") !== `Bearer ${TOKEN}`) {
      return Response.json({ message: "Unauthorized" }, { status: 401 });
    }
    const kind = `${request.method} ${pathname.replace(`/v1/projects/${PROJECT}`, "")}`;
    if (request.method !== "GET") writes.push(kind);
    const failure = failures.get(kind);
    if (failure) {
      failures.delete(kind);
      return Response.json({ message: failure.message }, { status: failure.status });
    }
    const hold = held.get(kind);
    if (hold) {
      held.delete(kind);
      hold.came();
      await hold.released;
      return new Response(null, { status: 504 });
    }
    const response = await perform(kind, request, searchParams);
    return lost.delete(kind) ? Response.json({ message: "Bad gateway" }, { status: 502 }) : response;
  }

  async function perform(kind: string, request: Request, searchParams: URLSearchParams): Promise<Response> {
    switch (kind) {
      case "GET ":
        return Response.json({
          id: PROJECT,
          ref: PROJECT,
          name: "project",
          status: "ACTIVE_HEALTHY",
          region: "eu-central-1",
          organization_id: "organization",
          organization_slug: "organization",
          created_at: "2026-11-20T08:00:00Z",
          database: { host: `db.${PROJECT}.example.test`, version: "17", postgres_engine: "17", release_channel: "ga" },
        });
      case "GET /api-keys":
        return Response.json([
          { name: "anon", api_key: "eyJhbm9u", type: "legacy", id: "1" },
          { name: "service_role", api_key: "eyJzZXJ2aWNl", type: "legacy", id: "2" },
        ]);
      case "GET /billing/addons":
        return Response.json({ selected_addons: [], available_addons: [] });
      case "GET /secrets":
        return Response.json(settings.listSecrets());
      case "POST /secrets":
        for (const { name, value } of await request.json()) settings.secrets.set(name, value);
        return new Response(null, { status: 201 });
      case "DELETE /secrets":
        for (const name of await request.json()) settings.secrets.delete(name);
        return new Response(null, { status: 200 });
      case `GET /v2/projects/${PROJECT}/config`:
        return Response.json(settings.describe());
      case "PATCH /postgrest":
        Object.assign(settings.api, await request.json());
        return Response.json({ ...settings.api, ...NO_POOL });
      case "GET /config/auth":
        return Response.json(settings.auth);
      case "PATCH /config/auth":
        Object.assign(settings.auth, await request.json());
        return Response.json(settings.auth);
      case "POST /database/query":
        return await runSql(await request.json());
      case "GET /functions":
        return Response.json([...live].map((slug) => describe(uploads.get(slug)!, versions.get(slug)!)));
      case "POST /functions/deploy":
        // Several functions are uploaded one by one, then activated together.
        return await deploy(request, searchParams.get("slug")!, searchParams.get("bundleOnly") !== "true");
      case "PUT /functions": {
        const all: { slug: string }[] = await request.json();
        for (const { slug } of all) live.add(slug);
        return Response.json({ functions: all });
      }
      default:
        return Response.json({ message: `Nothing is known of ${kind}` }, { status: 404 });
    }
  }

  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, answer);
  const url = `http://127.0.0.1:${server.addr.port}`;
  const profile = join(folder, "profile.yaml");
  const profileFields = { name: "local", api_url: url, dashboard_url: url, project_host: "example.test" };
  await Deno.writeTextFile(profile, Object.entries(profileFields).map(([key, value]) => `${key}: ${value}\n`).join(""));
  return {
    url,
    profile,
    uploads,
    live,
    settings,
    writes,
    bump: (slug) => void versions.set(slug, versions.get(slug)! + 1),
    failNext: (kind, failure = { status: 500, message: "Internal server error" }) => void failures.set(kind, failure),
    loseNext: (kind) => void lost.add(kind),
    holdNext(kind) {
      const came = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      held.set(kind, { came: came.resolve, released: released.promise });
      return { came: came.promise, release: released.resolve };
    },
    async close() {
      await server.shutdown();
      await database?.close();
    },
  };
}

function describe({ slug, metadata, files }: Upload, version: number): Record<string, unknown> {
  return {
    id: crypto.randomUUID(),
    slug,
    name: slug,
    status: "ACTIVE",
    version,
    created_at: 0,
    updated_at: 0,
    // A new function without a setting requires a platform token.
    verify_jwt: metadata.verify_jwt ?? true,
    import_map: Boolean(metadata.import_map_path),
    entrypoint_path: `file:///home/deno/functions/${metadata.entrypoint_path}`,
    import_map_path: metadata.import_map_path && `file:///home/deno/functions/${metadata.import_map_path}`,
    ezbr_sha256: String(files.length).padStart(64, "0"),
  };
}
