/** Files and S3 alike: what is written is read, retention takes whole days, and a storage in trouble harms no call. */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { PAYLOADS } from "../../src/payloads/config.ts";
import {
  type OpenPayloads,
  openPayloads,
  type PayloadOutcome,
  type PayloadsOptions,
} from "../../src/payloads/mod.ts";
import { sizeUpTo } from "../../src/exchange/json_pieces.ts";
import { generationId } from "../../src/exchange/request_ids.ts";
import { eventually, nextTurn } from "../support/time.ts";
import { S3_KEYS, s3Server } from "./s3_server.ts";
import { bytesUnder, filesUnder } from "./support.ts";

const KEY = "a key of payloads, only for tests";
const DAY = 86_400_000;
const NOON = Date.UTC(2026, 5, 15, 12);

interface Ground {
  settings: Record<string, unknown>;
  /** Names of what is there. */
  names(): Promise<string[]>;
  bytes(): Promise<string>;
}

async function onFiles(body: (ground: Ground) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await body({
      settings: { to: `file:${folder}` },
      names: async () => (await filesUnder(folder)).map((file) => file.slice(folder.length + 1)),
      bytes: () => bytesUnder(folder),
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function onS3(body: (ground: Ground) => Promise<void>): Promise<void> {
  const server = s3Server("kept");
  try {
    await body({
      settings: { to: "s3://kept/a/b", endpoint: server.url, region: "eu-central-1", ...S3_KEYS },
      names: () =>
        Promise.resolve([...server.objects.keys()].sort().map((key) => key.replace(/^a\/b\//, ""))),
      bytes: () =>
        Promise.resolve(
          [...server.objects.values()].map((bytes) => new TextDecoder("latin1").decode(bytes)).join(),
        ),
    });
  } finally {
    await server.close();
  }
}

interface Log extends OpenPayloads {
  keep(id: string, value: unknown, key?: string): void;
  outcomes: PayloadOutcome[];
  lines: string[];
}

async function open(
  settings: Record<string, unknown>,
  options: Partial<PayloadsOptions> = {},
): Promise<Log> {
  const outcomes: PayloadOutcome[] = [];
  const lines: string[] = [];
  const log = await openPayloads(PAYLOADS.parse({ key: KEY, ...settings }), {
    env: () => undefined,
    now: () => NOON,
    warn: (line) => lines.push(line),
    ended: (outcome) => outcomes.push(outcome),
    sleep: () => Promise.resolve(),
    sweeps: false,
    ...options,
  });
  const keep = (id: string, value: unknown, key = "key") =>
    log.add(id, key, sizeUpTo(value, 2 ** 32), () => value);
  return { ...log, keep, outcomes, lines };
}

for (const [name, on] of [["files", onFiles], ["s3", onS3]] as const) {
  Deno.test(`${name}: what is kept is read again, and is nowhere to be read without the key`, () =>
    on(async ({ settings, names, bytes }) => {
      let held = 0;
      const log = await open(settings, { held: (ms) => held += ms >= 0 ? 1 : NaN });
      const long = "\u{1f600}ä".repeat(200_000);
      const payload = {
        request: { text: "canary-of-a-payload", long },
        answer: [1, null, { a: undefined, b: "" }, []],
      };
      const id = generationId(NOON);
      log.keep(id, payload);
      await log.idle();
      assertEquals(log.outcomes, ["stored"]);
      // Making it, and the pieces of its text between which others have their turn.
      assert(held > 1, `${held}`);
      assertEquals(await log.read(id), JSON.parse(JSON.stringify(payload)));
      assertEquals(await log.read(generationId(NOON)), null);
      assertEquals(await names(), [`2026-06-15/${id.slice(-2)}/${id}`]);
      const all = await bytes();
      assert(!all.includes("canary") && !all.includes("request"));
      await log.close();

      const wrong = await open({ ...settings, key: "another key, of the same length" });
      await assertRejects(() => wrong.read(id), Error, "another key");
      await wrong.close();
    }));

  Deno.test(`${name}: of several keys the first encrypts and all decrypt`, () =>
    on(async ({ settings }) => {
      const [first, second] = [generationId(NOON), generationId(NOON)];
      const before = await open(settings);
      before.keep(first, "first");
      await before.idle();
      await before.close();
      const both = await open({ ...settings, key: ["the new key of the payloads", KEY] });
      both.keep(second, "second");
      await both.idle();
      assertEquals([await both.read(first), await both.read(second)], ["first", "second"]);
      await both.close();
      await assertRejects(() => before.read(second), Error, "another key");
    }));

  Deno.test(`${name}: retention deletes whole days once they are over, also while somebody reads`, () =>
    on(async ({ settings, names }) => {
      let now = NOON;
      const log = await open({ ...settings, retention_days: 2 }, { now: () => now });
      const ids: string[] = [];
      for (let day = 0; day < 4; day++) {
        for (let i = 0; i < 5; i++) {
          const id = generationId(NOON + day * DAY - (day === 0 && i === 0 ? 11.9 * 3_600_000 : 0));
          ids.push(id);
          log.keep(id, `canary ${day}`);
        }
      }
      await log.idle();
      assertEquals((await names()).length, 20);
      now = NOON + 3 * DAY;
      const [sweep, ...read] = await Promise.all([log.sweep(), ...ids.map((id) => log.read(id))]);
      assertEquals(sweep, undefined);
      for (const [i, found] of read.entries()) {
        assert(found === null || found === `canary ${Math.floor(i / 5)}`);
      }
      assertEquals(
        new Set((await names()).map((name) => name.slice(0, 10))),
        new Set(["2026-06-16", "2026-06-17", "2026-06-18"]),
      );
      now = NOON + 30 * DAY;
      await log.sweep();
      assertEquals(await names(), []);
      assertEquals(log.lines, []);
      await log.close();
    }));
}

Deno.test("s3: an object that cannot be written is tried again, then given up and counted, with one line", async () => {
  const server = s3Server("kept");
  let answers = 0;
  server.instead = () => (answers++, new Response("secret-detail", { status: 503 }));
  const log = await open({ to: "s3://kept", endpoint: server.url, region: "eu-central-1", ...S3_KEYS });
  try {
    for (let i = 0; i < 20; i++) log.keep(generationId(NOON), "x");
    await log.idle();
    assertEquals(log.outcomes, Array(20).fill("failed"));
    assertEquals(answers, 60);
    assertEquals(log.lines, ["a payload was not kept: Error: the storage answered with status 503"]);
    assertEquals(log.bytes(), 0);
    server.instead = null;
    const id = generationId(NOON);
    log.keep(id, "later");
    await log.idle();
    assertEquals(await log.read(id), "later");
  } finally {
    await log.close();
    await server.close();
  }
});

Deno.test("s3: a redirect is not followed, so that nothing goes to another host", async () => {
  const server = s3Server("kept");
  const inner = s3Server("kept");
  server.instead = () => Response.redirect(`${inner.url}/kept/object`, 307);
  const log = await open({ to: "s3://kept", endpoint: server.url, region: "eu-central-1", ...S3_KEYS });
  try {
    log.keep(generationId(NOON), "x");
    await log.idle();
    assertEquals([log.outcomes, inner.requests], [["failed"], []]);
  } finally {
    await log.close();
    await server.close();
    await inner.close();
  }
});

Deno.test("s3: retention deletes nothing beside the days that are over, whatever the storage lists", async () => {
  const server = s3Server("kept");
  const day = "p/2020-01-01/";
  const named = [`${day}00/mine`, "other/secret", `${day}../../../other/secret`, "p/2999-01-01/00/gen"];
  const tag = (outer: string, inner: string, name: string) =>
    `<${outer}><${inner}>${name}</${inner}></${outer}>`;
  server.instead = () => {
    const asked = server.requests.at(-1)!;
    if (asked.startsWith("DELETE")) return new Response(null, { status: 204 });
    if (server.requests.some((one) => one.startsWith("DELETE"))) return new Response("<ListBucketResult/>");
    const list = tag("CommonPrefixes", "Prefix", day) +
      named.map((name) => tag("Contents", "Key", name)).join("");
    return new Response(`<ListBucketResult>${list}</ListBucketResult>`);
  };
  const log = await open({ to: "s3://kept/p", endpoint: server.url, region: "eu-central-1", ...S3_KEYS });
  try {
    await log.sweep();
    assertEquals(server.requests.filter((one) => one.startsWith("DELETE")), [`DELETE /kept/${day}00/mine`]);
  } finally {
    await log.close();
    await server.close();
  }
});

Deno.test("s3: a list without an end is given up, with one line", async () => {
  const server = s3Server("kept");
  server.instead = () =>
    new Response("<ListBucketResult><NextContinuationToken>again</NextContinuationToken></ListBucketResult>");
  const log = await open({ to: "s3://kept", endpoint: server.url, region: "eu-central-1", ...S3_KEYS });
  try {
    await log.sweep();
    assertEquals(log.lines.length, 1);
    assertMatch(log.lines[0], /does not end within 1000 pages/);
  } finally {
    await log.close();
    await server.close();
  }
});

Deno.test("s3: a storage that hangs fills the queue to its bound and no further", async () => {
  const server = s3Server("kept");
  const hanging = Promise.withResolvers<Response>();
  server.instead = () => hanging.promise;
  const log = await open({
    to: "s3://kept",
    endpoint: server.url,
    region: "eu-central-1",
    ...S3_KEYS,
    queue_bytes: 1 << 20,
  });
  try {
    const body = "x".repeat(100_000);
    for (let i = 0; i < 100; i++) log.keep(generationId(NOON), { body });
    assertEquals(log.outcomes.filter((outcome) => outcome === "dropped").length, 90);
    assert(log.bytes() <= 1 << 20);
    assertMatch(log.lines[0], /the queue is full/);
    assertEquals(log.lines.length, 1);
  } finally {
    hanging.resolve(new Response(null));
    await log.close();
    await server.close();
  }
});

Deno.test("s3: what waits of one key takes no room from others, and keys take turns", async () => {
  const server = s3Server("kept");
  const hanging = Promise.withResolvers<Response>();
  server.instead = () => hanging.promise;
  const log = await open({
    to: "s3://kept",
    endpoint: server.url,
    region: "eu-central-1",
    ...S3_KEYS,
    queue_bytes: 1 << 20,
  });
  try {
    const body = "x".repeat(10_000);
    const flood = Array.from({ length: 1000 }, () => generationId(NOON));
    for (const id of flood) log.keep(id, { body }, "loud");
    const few = Array.from({ length: 20 }, () => generationId(NOON));
    for (const id of few.slice(0, 10)) log.keep(id, { body }, "quiet");
    for (const id of flood) log.keep(id, { body }, "loud");
    for (const id of few.slice(10)) log.keep(id, { body }, "quiet too");
    assert(log.bytes() <= 1 << 20);
    server.instead = null;
    hanging.resolve(new Response(null, { status: 503 }));
    await log.idle();
    for (const id of few) assert(await log.read(id) !== null, "a payload of a key with few is lost");
    // Whoever has few does not wait for all of the flood.
    const order = server.requests.filter((request) => request.startsWith("PUT "));
    const last = Math.max(...few.map((id) => order.findLastIndex((request) => request.includes(id))));
    assert(order.length > 80 && last < order.length - 20, `${last} of ${order.length}`);
  } finally {
    await log.close();
    await server.close();
  }
});

Deno.test("s3: a storage that hangs while it is swept does not hold up the end", async () => {
  const server = s3Server("kept");
  const hanging = Promise.withResolvers<Response>();
  server.instead = () => hanging.promise;
  const settings = { to: "s3://kept", endpoint: server.url, region: "eu-central-1", ...S3_KEYS };
  const log = await open(settings, { sweeps: true });
  try {
    await eventually(() => server.requests.length === 1);
    await log.close();
  } finally {
    hanging.resolve(new Response("<ListBucketResult/>"));
    await server.close();
  }
});

Deno.test("files: a disk that is full, or a folder that cannot be made, is counted, and leaves no part behind", async () => {
  const folder = await Deno.makeTempDir();
  await Deno.writeTextFile(`${folder}/file`, "in the way");
  const log = await open({ to: `file:${folder}/file/below` });
  try {
    log.keep(generationId(NOON), "x");
    await log.idle();
    assertEquals(log.outcomes, ["failed"]);
    assertEquals(await filesUnder(folder), [`${folder}/file`]);
  } finally {
    await log.close();
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("files: what a process that died left half written goes, and what is being written stays", async () => {
  const folder = await Deno.makeTempDir();
  const day = `${folder}/2026-06-15/ab`;
  await Deno.mkdir(day, { recursive: true });
  const part = `${day}/gen_x.1.part`;
  await Deno.writeTextFile(part, "half");
  await Deno.utime(part, new Date(NOON - 60_000), new Date(NOON - 60_000));
  let now = NOON;
  const log = await open({ to: `file:${folder}` }, { now: () => now });
  try {
    await log.sweep();
    assert((await Deno.stat(part)).isFile);
    now += 2 * 3_600_000;
    await log.sweep();
    await assertRejects(() => Deno.stat(part), Deno.errors.NotFound);
  } finally {
    await log.close();
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("files: bodies of 30 MB at a high rate stay within the bound, and other work goes on between", async () => {
  const folder = await Deno.makeTempDir();
  const log = await open({ to: `file:${folder}`, queue_bytes: 64 << 20 });
  try {
    const image = crypto.getRandomValues(new Uint8Array(60_000)).toBase64().repeat(375);
    let turns = 0;
    let over = false;
    const counting = (async () => {
      for (; !over; turns++) await nextTurn();
    })();
    for (let i = 0; i < 20; i++) log.keep(generationId(NOON), { image, i });
    assertEquals(log.outcomes.filter((outcome) => outcome === "dropped").length, 18);
    await log.idle();
    over = true;
    await counting;
    assertEquals(log.outcomes.filter((outcome) => outcome === "stored").length, 2);
    assert(turns > 50, `${turns} turns`);
    const [id] = (await filesUnder(folder)).map((file) => file.split("/").at(-1)!);
    assertEquals((await log.read(id) as { image: string }).image, image);
  } finally {
    await log.close();
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("two logs on one folder, as workers have it, write beside each other", async () => {
  await onFiles(async ({ settings, names }) => {
    const logs = await Promise.all([open(settings), open(settings)]);
    for (let i = 0; i < 100; i++) logs[i % 2].keep(generationId(NOON), i);
    await eventually(() => logs.every((log) => log.outcomes.length === 50));
    assertEquals((await names()).length, 100);
    await Promise.all(logs.map((log) => log.close()));
  });
});
