/** What is imported when it is first needed, in a process that has few files. */
import { assertEquals } from "@std/assert";
import { ADMIN_KEY, SECRETS, startGateway, startProvider } from "./soak/gateway.ts";

const SOURCE = new URL("../src/", import.meta.url);

/** Imported by a start, by commands, in threads, or by the modules that are listed; of the last ones another call may ask again. */
const OTHERS = [
  /^commands\/(?!catalog_of)/,
  /^telemetry\//,
  /^(?:seldom|assembly\/siblings)\.ts$/,
  /^config\/describe\.ts$/,
  /^workers\.ts$/,
  /^transport\/(?:host_server|tls_listener|http2_server)\.ts$/,
  /^store\/(?:postgres\/driver|migrations\/(?:steps|v\d+))\.ts$/,
  /^models\/(?:changes|summary)\.ts$/,
  /^models\/facts\/table\.json$/,
  /^documents\/pdf_text\.ts$/,
  // Part of the runtime: no file is opened for them.
  /^node:/,
  /^gpt-tokenizer\/|^re2-wasm\//,
];

function* filesOf(folder: URL): Generator<URL> {
  for (const { name, isDirectory } of Deno.readDirSync(folder)) {
    if (isDirectory) yield* filesOf(new URL(`${name}/`, folder));
    else if (name.endsWith(".ts")) yield new URL(name, folder);
  }
}

function importedLater(file: URL): string[] {
  const text = Deno.readTextFileSync(file);
  return [...text.matchAll(/(?<!typeof )\bimport\("([^"\n]+)"/g)].map(([, specifier]) =>
    specifier.startsWith(".") ? new URL(specifier, file).href.slice(SOURCE.href.length) : specifier
  );
}

Deno.test("what calls and administrators may need later is loaded before where files are few", () => {
  const list = new URL("seldom.ts", SOURCE);
  const listed = importedLater(list);
  const commands = new URL("commands/", SOURCE).href;
  const others = [...filesOf(SOURCE)].filter(({ href }) => href !== list.href && !href.startsWith(commands));
  const later = new Set(others.flatMap(importedLater));
  const missing = [...later].filter((name) =>
    !listed.includes(name) && !OTHERS.some((other) => other.test(name))
  );
  assertEquals(missing, [], "src/seldom.ts names them, or this test why not");
});

Deno.test("what is first needed while no file can be opened works afterwards, and a thread that cannot start ends nothing", async () => {
  const folder = await Deno.makeTempDir({ prefix: "sluice-seldom-" });
  const provider = await startProvider();
  const entry = new URL("support/few_files_program.ts", import.meta.url);
  const gateway = await startGateway(folder, provider.url, { files: 200, entry });
  const port = Number(/files at (\d+)/.exec(gateway.err())![1]);
  const files = await Deno.connect({ hostname: "127.0.0.1", port });
  const told = async (command: "take" | "give") => {
    await files.write(new TextEncoder().encode(command));
    assertEquals(await files.read(new Uint8Array(10)), command.length);
  };
  const ask = async (path: string, secret: string, { body, headers = {} }: Ask = {}) => {
    const response = await fetch(gateway.url + path, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${secret}`, ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }).catch(() => null);
    await response?.body?.cancel();
    return response?.status ?? 0;
  };
  const plain = { model: "ordinary/model", messages: [{ role: "user", content: "Good morning" }] };
  const regexes = [{ name: "word", pattern: "mor+ning" }];
  const seldom: Record<string, () => Promise<number>> = {
    "screening": () => ask("/v1/chat/completions", SECRETS.screened, { body: plain }),
    "patterns of a request": () =>
      ask("/v1/chat/completions", SECRETS.screened, {
        body: { ...plain, plugins: { dlp: { mode: "mask", regexes } } },
      }),
    "resumption": () =>
      ask("/v1/chat/completions", SECRETS.ordinary, {
        body: { ...plain, stream: true },
        headers: { "x-svc-resume": "true" },
      }),
    "repair": () =>
      ask("/v1/chat/completions", SECRETS.ordinary, { body: plain, headers: { "x-svc-repair": "true" } }),
    "calls in the messages format": () =>
      ask("/v1/messages", SECRETS.ordinary, { body: { ...plain, max_tokens: 16 } }),
    "calls in the responses format": () =>
      ask("/v1/responses", SECRETS.ordinary, { body: { model: plain.model, input: "Good morning" } }),
    "estimates": () => ask("/v1/estimate", SECRETS.ordinary, { body: plain }),
    "counts of tokens": () => ask("/v1/messages/count_tokens", SECRETS.ordinary, { body: plain }),
    "search of records": () => ask("/admin/generations?provider=x", ADMIN_KEY),
    "the overview": () => ask("/admin/overview", ADMIN_KEY),
    "the console": () => ask("/console", ADMIN_KEY),
  };
  const asked = async () => {
    const statuses: Record<string, number> = {};
    for (const [name, one] of Object.entries(seldom)) statuses[name] = await one();
    return statuses;
  };
  try {
    await gateway.said("all modules are loaded now instead of on first use");
    assertEquals(await ask("/healthz", ""), 200);
    await told("take");
    await asked();
    await told("give");
    const good = Object.fromEntries(Object.keys(seldom).map((name) => [name, 200]));
    assertEquals(await asked(), good, gateway.err());
  } finally {
    const code = await gateway.stop();
    files.close();
    await provider.stop();
    await Deno.remove(folder, { recursive: true });
    assertEquals(code, 0, gateway.err());
  }
});

interface Ask {
  body?: unknown;
  headers?: Record<string, string>;
}
