/** Modules that are imported on first use, in a process that may open only few files. */
import { assertEquals, equal } from "@std/assert";
import { ADMIN_KEY, SECRETS, startGateway, startProvider } from "./soak/gateway.ts";
import { eventually } from "./support/time.ts";

const SOURCE = new URL("../src/", import.meta.url);

/** Modules that need not be listed: a start, commands or workers import them, or listed modules whose import can be repeated. */
const OTHERS = [
  /^commands\/(?!catalog_of)/,
  /^telemetry\//,
  /^(?:lazy_modules|assembly\/siblings)\.ts$/,
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

Deno.test("every module that is imported on first use is listed for processes with few files", () => {
  const list = new URL("lazy_modules.ts", SOURCE);
  const listed = importedLater(list);
  const commands = new URL("commands/", SOURCE).href;
  const others = [...filesOf(SOURCE)].filter(({ href }) => href !== list.href && !href.startsWith(commands));
  const later = new Set(others.flatMap(importedLater));
  const missing = [...later].filter((name) =>
    !listed.includes(name) && !OTHERS.some((other) => other.test(name))
  );
  assertEquals(missing, [], "listed in src/lazy_modules.ts, or excluded in this test");
});

Deno.test("modules first needed while no file can be opened work afterwards, and a worker that cannot start ends nothing", async () => {
  const folder = await Deno.makeTempDir({ prefix: "sluice-lazy-modules-" });
  const provider = await startProvider();
  const entry = new URL("support/few_files_program.ts", import.meta.url);
  const gateway = await startGateway(folder, provider.url, { files: 200, entry });
  const port = Number(/files at (\d+)/.exec(gateway.err())![1]);
  const files = await Deno.connect({ hostname: "127.0.0.1", port });
  const send = async (command: "take" | "give") => {
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
  const lazy: Record<string, () => Promise<number>> = {
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
    for (const [name, one] of Object.entries(lazy)) statuses[name] = await one();
    return statuses;
  };
  try {
    await gateway.said("all modules are loaded now instead of on first use");
    assertEquals(await ask("/healthz", ""), 200);
    await send("take");
    await asked();
    await send("give");
    const good = Object.fromEntries(Object.keys(lazy).map((name) => [name, 200]));
    // A machine that is busy may make the gateway refuse a call.
    let statuses: Record<string, number> = {};
    await eventually(async () => {
      statuses = await asked();
      return equal(statuses, good);
    }, { what: () => `${JSON.stringify(statuses)}\n${gateway.err()}` });
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
