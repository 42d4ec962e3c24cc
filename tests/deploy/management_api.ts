/**
 * The part of the platform's management API that `supabase functions deploy` uses: it stores uploads in a folder
 * unchanged, and rejects what the real one rejects before bundling. No account, no network.
 */
import { dirname, join } from "node:path";

/** Twenty lower-case letters, like a project reference. */
export const PROJECT = "abcdefghijklmnopqrst";
/** Shaped like a personal access token; it grants nothing. */
export const TOKEN = "sbp_" + "0".repeat(40);

export interface Upload {
  slug: string;
  /** What the CLI says about the function; `verify_jwt` is absent when the configuration does not set it. */
  metadata: { name?: string; entrypoint_path?: string; import_map_path?: string; verify_jwt?: boolean };
  /** Paths relative to the project. */
  files: { path: string; bytes: number }[];
  /** Where the files are. */
  folder: string;
}

export interface ManagementApi {
  /** Path of a CLI profile that points here. */
  profile: string;
  /** The last upload, by slug. */
  uploads: Map<string, Upload>;
  /** Slugs activated at the end. */
  live: Set<string>;
  close(): Promise<void>;
}

/** @param folder an empty one, for the profile and the uploads. */
export async function startManagementApi(folder: string): Promise<ManagementApi> {
  const uploads = new Map<string, Upload>();
  const live = new Set<string>();

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
    if (isLast) live.add(slug);
    return Response.json(describe(upload), { status: 201 });
  }

  async function answer(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    if (request.headers.get("authorization") !== `Bearer ${TOKEN}`) {
      return Response.json({ message: "Unauthorized" }, { status: 401 });
    }
    switch (`${request.method} ${pathname.replace(`/v1/projects/${PROJECT}`, "")}`) {
      case "GET ":
        return Response.json({
          id: PROJECT,
          ref: PROJECT,
          name: "project",
          status: "ACTIVE_HEALTHY",
          region: "eu-central-1",
        });
      case "GET /functions":
        return Response.json([...live].map((slug) => describe(uploads.get(slug)!)));
      case "POST /functions/deploy":
        // Several functions are uploaded one by one, then activated together.
        return await deploy(request, searchParams.get("slug")!, searchParams.get("bundleOnly") !== "true");
      case "PUT /functions": {
        const all: { slug: string }[] = await request.json();
        for (const { slug } of all) live.add(slug);
        return Response.json({ functions: all });
      }
      default:
        return Response.json({ message: `Nothing is known of ${request.method} ${pathname}` }, { status: 404 });
    }
  }

  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, answer);
  const url = `http://127.0.0.1:${server.addr.port}`;
  const profile = join(folder, "profile.yaml");
  const settings = { name: "local", api_url: url, dashboard_url: url, project_host: "example.test" };
  await Deno.writeTextFile(profile, Object.entries(settings).map(([key, value]) => `${key}: ${value}\n`).join(""));
  return { profile, uploads, live, close: () => server.shutdown() };
}

function describe({ slug, metadata, files }: Upload): Record<string, unknown> {
  return {
    id: crypto.randomUUID(),
    slug,
    name: slug,
    status: "ACTIVE",
    version: 1,
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
