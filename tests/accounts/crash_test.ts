/** A process is killed at random moments: every generation that it admitted is recorded, once, with what it used. */
import { assert, assertEquals } from "@std/assert";
import { proofOf } from "../../src/commands/ledger.ts";
import { openStore } from "../../src/store/mod.ts";
import { onCluster } from "../support/cluster.ts";
import { admitAtOnce, configOf, open, requestOf, SECRET } from "./support.ts";

const KILLS = 4;
const CHILD = new URL("crash_child.ts", import.meta.url).pathname;
const PRICES_CHILD = new URL("prices_child.ts", import.meta.url).pathname;
const PRICES_OF_CHILD = { prompt: "0.07", completion: "0.09" };
const CONFIG = new URL("../../deno.json", import.meta.url).pathname;

interface Told {
  began: Set<string>;
  ended: Map<string, number>;
  released: Set<string>;
}

/** Runs a child until it has said so many lines, and kills it in the middle of the next. */
async function runAndKill(args: string[], lines: number, told: Told): Promise<void> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "--config", CONFIG, CHILD, ...args],
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let text = "";
  let count = 0;
  const decoder = new TextDecoder();
  for await (const chunk of child.stdout) {
    text += decoder.decode(chunk, { stream: true });
    count += chunk.filter((byte) => byte === 10).length;
    if (count >= lines) {
      try {
        child.kill("SIGKILL");
      } catch {
        // It is dead, and what it said is still being read.
      }
    }
  }
  const { signal } = await child.status;
  const complaint = await new Response(child.stderr).text();
  assertEquals(signal, "SIGKILL", complaint);
  const whole = text.split("\n");
  whole.pop();
  for (const line of whole) {
    const [kind, id, tokens] = line.split(" ");
    if (kind === "+") told.began.add(id);
    else if (kind === "-") told.released.add(id);
    else told.ended.set(id, Number(tokens));
  }
}

async function check(url: string, filePrefix: string, schema?: string): Promise<void> {
  const told: Told = { began: new Set(), ended: new Map(), released: new Set() };
  for (let kill = 0; kill < KILLS; kill++) {
    const lines = 60 + Math.floor(Math.random() * 400);
    await runAndKill([url, filePrefix, `k${kill}`, ...(schema === undefined ? [] : [schema])], lines, told);
  }
  const service = await open(
    openStore(url, { filePrefix, schema }),
    configOf({ spend_limit: { amount: "1000", period: "total" } }, "1000"),
  );
  try {
    const found = new Map<string, { status: string; cost: string }>();
    let cursor: string | undefined;
    do {
      const page = await service.generations({ limit: 1000, cursor });
      for (const g of page.data) {
        assert(!found.has(g.id), `${g.id} twice`);
        found.set(g.id, g);
      }
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);

    let spent = 0;
    for (const [id, tokens] of told.ended) {
      const g = found.get(id);
      assertEquals([g?.status, Number(g?.cost)], ["completed", tokens / 100], id);
    }
    let interrupted = 0;
    for (const id of told.began) {
      if (told.released.has(id)) assert(!found.has(id), `${id} had given its reservation back`);
      else if (!told.ended.has(id)) {
        // Its end was not told: it may have been written all the same, or the reservation given back.
        const g = found.get(id);
        if (g?.status === "interrupted") interrupted++;
        else if (g === undefined) assertEquals(Number(id.split("_")[1]) % 7, 6, id);
      }
    }
    for (const g of found.values()) spent += Math.round(Number(g.cost) * 100);
    assert(told.ended.size > KILLS * 10);
    assert(interrupted > 0);
    const { balance } = await service.credits("acme");
    assertEquals(Number(balance), (100_000 - spent) / 100);
    // Nothing stays reserved: all that is left can be admitted.
    const key = await service.authenticate(SECRET);
    const { reservations, refused } = await admitAtOnce(service, key, 10, (100_000 - spent) / 10 | 0);
    assertEquals([reservations.length, refused], [10, new Map()]);
    for (const reservation of reservations) reservation.release();
  } finally {
    await service.close();
  }
  const proof = await proofOf({ url, schema, pepper: null, journal: null });
  assertEquals([proof.shown, proof.unchained, proof.daysSummed > 0], [[], 0, true]);
}

Deno.test("sqlite: kill -9 loses no record, doubles none and leaves nothing reserved", async () => {
  const folder = await Deno.makeTempDir({ prefix: "sluice-crash-" });
  try {
    await check(`sqlite:${folder}/store.db`, "-");
    assertEquals([...Deno.readDirSync(folder)].filter((e) => e.name.includes("journal")), []);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("prices of calls whose process was killed are known, although the configuration has others", async () => {
  const folder = await Deno.makeTempDir({ prefix: "sluice-crash-" });
  const url = `sqlite:${folder}/store.db`;
  try {
    // One that is killed before it tells the store.
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-check", "--config", CONFIG, PRICES_CHILD, url],
      stderr: "piped",
    });
    const { signal, stderr } = await child.output();
    assertEquals(signal, "SIGKILL", new TextDecoder().decode(stderr));
    const service = await open(openStore(url), configOf());
    try {
      const { data: [{ id, price_version }] } = await service.generations({});
      const { prices } = await service.generation(id);
      assertEquals(prices, [{ version: price_version, prices: PRICES_OF_CHILD }]);
    } finally {
      await service.close();
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a reservation that was given back is so in the journal before its caller hears of it", async () => {
  const folder = await Deno.makeTempDir({ prefix: "sluice-crash-" });
  const service = await open(openStore(`sqlite:${folder}/store.db`), configOf({}, "1000"));
  try {
    const key = await service.authenticate(SECRET);
    const ids = Array.from({ length: 5 }, (_, i) => `g${i}`);
    const reservations = await Promise.all(ids.map((id) => service.admit(requestOf(key, 1, { id }))));
    await Promise.all(reservations.map((reservation) => reservation.release()));
    const { name } = [...Deno.readDirSync(folder)].find((entry) => entry.name.endsWith(".journal"))!;
    const lines = Deno.readTextFileSync(`${folder}/${name}`).split("\n");
    for (const id of ids) assert(lines.includes(`- ${id}`), id);
  } finally {
    await service.close();
    await Deno.remove(folder, { recursive: true });
  }
});

onCluster((cluster) => {
  Deno.test("postgres: kill -9 loses no record, doubles none and leaves nothing reserved", async () => {
    const folder = await Deno.makeTempDir({ prefix: "sluice-crash-" });
    try {
      await check(cluster().url, `${folder}/node`, "crash");
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
});
