/**
 * A real SearX of Debian's package `searx` on loopback. Its one engine looks into an SQLite file, so it answers its own
 * JSON API without any network.
 */
import { DatabaseSync } from "node:sqlite";

const PYTHON = "/usr/bin/python3";

export interface Searx {
  url: string;
  close(): Promise<void>;
}

export interface Page {
  url: string;
  title: string;
  content: string;
}

export function searxInstalled(): boolean {
  try {
    const { success } = new Deno.Command(PYTHON, {
      args: ["-c", "import importlib.util, sys; sys.exit(importlib.util.find_spec('searx') is None)"],
      stdout: "null",
      stderr: "null",
    }).outputSync();
    return success;
  } catch {
    return false;
  }
}

export async function openSearx(pages: readonly Page[]): Promise<Searx> {
  const folder = await Deno.makeTempDir({ prefix: "sluice-searx-" });
  const database = `${folder}/pages.db`;
  const db = new DatabaseSync(database);
  db.exec("CREATE TABLE pages (url, title, content)");
  const insert = db.prepare("INSERT INTO pages VALUES (?, ?, ?)");
  for (const { url, title, content } of pages) insert.run(url, title, content);
  db.close();
  // JSON is YAML.
  await Deno.writeTextFile(`${folder}/settings.yml`, JSON.stringify(settings(database)));
  await Deno.writeTextFile(`${folder}/serve.py`, SERVE);
  const process = new Deno.Command(PYTHON, {
    args: [`${folder}/serve.py`],
    env: { SEARX_SETTINGS_PATH: `${folder}/settings.yml`, PYTHONDONTWRITEBYTECODE: "1" },
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const lines = process.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const { value: port } = await lines.read();
  const close = async () => {
    try {
      process.kill("SIGKILL");
    } catch {
      // It has ended by itself.
    }
    await process.status;
    await lines.cancel();
    await Deno.remove(folder, { recursive: true });
  };
  if (port === undefined) {
    await close();
    throw new Error("SearX is installed but did not start");
  }
  return { url: `http://127.0.0.1:${Number(port)}`, close };
}

const SERVE = `from searx import webapp
from werkzeug.serving import make_server
server = make_server("127.0.0.1", 0, webapp.app, threaded=True)
print(server.server_port, flush=True)
server.serve_forever()
`;

/** The fields without which version 1.1 does not start. */
function settings(database: string) {
  const nowhere = "http://localhost";
  return {
    general: { debug: false, instance_name: "searx", contact_url: false, enable_stats: false },
    brand: Object.fromEntries(
      ["git_url", "git_branch", "issue_url", "docs_url", "public_instances", "wiki_url", "twitter_url"]
        .map((name) => [name, nowhere]),
    ),
    search: {
      safe_search: 0,
      autocomplete: "",
      default_lang: "en",
      ban_time_on_fail: 5,
      max_ban_time_on_fail: 120,
      prefer_configured_language: false,
    },
    server: {
      port: 0,
      bind_address: "127.0.0.1",
      secret_key: "of a test",
      base_url: false,
      image_proxy: false,
      http_protocol_version: "1.1",
      method: "GET",
      default_http_headers: {},
    },
    ui: {
      autofocus: true,
      archive_today: false,
      static_path: "/usr/share/python3-searx/static",
      templates_path: "/usr/share/python3-searx/templates",
      default_theme: "oscar",
      default_locale: "en",
      theme_args: { oscar_style: "logicodev" },
    },
    outgoing: { request_timeout: 60, useragent_suffix: "", pool_connections: 1, pool_maxsize: 1 },
    checker: {},
    doi_resolvers: { none: nowhere },
    default_doi_resolver: "none",
    locales: { en: "English" },
    engines: [{
      name: "pages",
      engine: "sqlite",
      shortcut: "p",
      categories: "general",
      database,
      query_str: "SELECT url, title, content FROM pages WHERE content LIKE '%' || :query || '%'",
      result_template: "default.html",
    }],
  };
}
