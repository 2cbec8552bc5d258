/**
 * `deno task bench`: how fast the gateway is, against relays that do nothing but pass a call on.
 *
 * Everything is a program of its own on loopback; what is measured has one core, the provider and the load another. Each
 * figure is a median over rounds, each ratio is formed within a round.
 */
import { parseArgs } from "node:util";
import { V8_FLAGS } from "../../src/memory.ts";
import manifest from "../../deno.json" with { type: "json" };
import { against, otherGateway } from "./against.ts";
import { benchLedger } from "./ledger.ts";
import type { Seen } from "./load.ts";
import { MEASURES, SLOW } from "./measures.ts";
import type { Bench } from "./rounds.ts";
import { killAll, PINNED, startGateway, startLoad, startProvider, startRelay } from "./programs.ts";
import { call, gatewayAs } from "./calls.ts";
import { median, render, type Row } from "./table.ts";

const HELP = `deno task bench [--quick] [--only NAME[,NAME]] [--rounds N] [--json FILE]
deno task bench --against URL --provider-port PORT --key KEY --models PREFIX [--pid PID] [--only NAME]
deno task bench --only ledger [--rows N[,N]] [--keys N] [--store sqlite,postgres] [--keep | --fill | --update]
deno task bench --only ledger --at URL [--match EXPRESSION] [--runs N]
deno task bench --only nodes

  --quick   fewer and shorter rounds, without ${[...SLOW].join(", ")}: some two minutes
  --only    some measures only: ${
  Object.keys(MEASURES).join(", ")
}; or ledger or nodes, each by itself; growth alone names all that is steep
  --rounds  so many rounds of each measure, in place of its own number
  --json    write what every run of every round saw to FILE, and the table's lines
  --against another gateway on this machine, in the same run: its calls must go to http://127.0.0.1:PORT/v1, the bench's provider,
            with the models \`whole\` and \`stream-200-5\`; with --only against that measure alone
  --rows    generations of the ledger (1000000); it takes some minutes a million
  --keys    keys beside them (100000)
  --store   on which databases (both)
  --keep    leave the ledger where it is, and say where
  --fill    only make the ledger as 0.1.0 leaves it, and keep it: --at then begins with the update of its schema
  --update  only make it and measure the update
  --at      read a ledger that was kept; --store postgres and --fill leave a server running
  --match   only reads whose names match this, like "usage by key|sluice"
  --runs    how often each is run (5)
`;

const { values } = parseArgs({
  args: Deno.args,
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string" },
    rounds: { type: "string" },
    json: { type: "string" },
    against: { type: "string" },
    "provider-port": { type: "string", default: "0" },
    key: { type: "string", default: "none" },
    models: { type: "string", default: "" },
    pid: { type: "string", default: "0" },
    rows: { type: "string", default: "1000000" },
    keys: { type: "string", default: "100000" },
    store: { type: "string", default: "sqlite,postgres" },
    keep: { type: "boolean", default: false },
    at: { type: "string" },
    fill: { type: "boolean", default: false },
    update: { type: "boolean", default: false },
    match: { type: "string" },
    runs: { type: "string", default: "5" },
    help: { type: "boolean", default: false },
  },
});

const names = values.only?.split(",") ??
  Object.keys(MEASURES).filter((name) => !values.quick || !SLOW.has(name));
const ledgerOnly = values.only === "ledger";
const growthOnly = values.only === "growth" && !values.help;
const nodesOnly = values.only === "nodes" && !values.help;
const unknown = ledgerOnly || growthOnly || nodesOnly
  ? []
  : names.filter((name) => !(name in MEASURES) && !(name === "against" && values.against !== undefined));
if (values.help || unknown.length > 0) {
  console.log(unknown.length > 0 ? `There is no measure ${unknown.join(", ")}.\n\n${HELP}` : HELP);
  Deno.exit(unknown.length > 0 ? 2 : 0);
}

const started = performance.now();
const say = (line: string) =>
  console.error(`${((performance.now() - started) / 1000).toFixed(0).padStart(4)} s  ${line}`);
if (growthOnly) {
  const { measureGrowth, renderGrowth } = await import("./growth.ts");
  console.log(renderGrowth(measureGrowth(values.quick, say)));
  Deno.exit(0);
}
if (nodesOnly) {
  const { benchNodes } = await import("./nodes.ts");
  console.log(await benchNodes({ nodes: 50, callsPerSecond: 10_000, seconds: 1, say }));
  Deno.exit(0);
}
if (ledgerOnly) {
  console.log(
    await benchLedger({
      rows: values.rows.split(",").map(Number),
      keys: Number(values.keys),
      stores: values.store.split(","),
      at: values.at,
      match: values.match,
      keep: values.keep || values.fill,
      fillOnly: values.fill,
      updateOnly: values.update,
      runs: Number(values.runs),
      say,
    }),
  );
  Deno.exit(0);
}
if (!PINNED) say("no taskset here, or one core: programs share cores, and ratios are less steady");

const kept: { measure: string; target: string; round: number; seen: Seen }[] = [];
const failed: string[] = [];
const rows: Row[] = [];
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  Deno.addSignalListener(signal, () => {
    killAll();
    Deno.removeSync(folder, { recursive: true });
    failed.push(`it was ended by ${signal}: what stands above is what was measured until then`);
    report();
  });
}
const other = values.against === undefined ? null : otherGateway({ ...values, against: values.against });
const folder = await Deno.makeTempDir({ prefix: "sluice-bench-" });
const provider = await startProvider(Number(values["provider-port"]));
const [json, byob, gateway] = await Promise.all([
  startRelay("json", provider),
  startRelay("byob", provider),
  startGateway(folder, provider),
]);
const load = startLoad(provider);
try {
  const bench: Bench = {
    quick: values.quick,
    rounds: values.rounds === undefined ? undefined : Number(values.rounds),
    folder,
    provider,
    json,
    byob,
    gateway,
    load,
    say,
    keep(measure, { name, program }, round, seen) {
      kept.push({ measure, target: name, round, seen });
      const wrong = wrongIn(seen);
      if (wrong === null) return;
      const line = `${measure}, round ${round + 1}, ${name}: ${wrong}`;
      failed.push(line);
      say(line);
      for (const said of program.said().slice(-5)) say(`  it said: ${said}`);
    },
  };
  await warm(bench);
  for (const name of names.filter((name) => name in MEASURES)) {
    try {
      rows.push(...await MEASURES[name](bench));
    } catch (error) {
      // The others are worth their time all the same.
      failed.push(`${name}: ${error instanceof Error ? error.message : error}`);
      say(failed.at(-1)!);
    }
  }
  if (other !== null) rows.push(...await against(bench, other));
} finally {
  await Promise.all([load, gateway, json, byob].map((program) => program.stop()));
  await provider.stop();
  await Deno.remove(folder, { recursive: true });
}
report();

/** Writes what was measured, and ends with status 1 where something failed. */
function report(): never {
  if (values.json !== undefined) Deno.writeTextFileSync(values.json, JSON.stringify({ rows, kept }, null, 1));
  console.log(`${machine()}\n\n${render(rows)}`);
  const waited = waitedForCore();
  if (waited !== null && waited > 0.2) {
    console.log(
      `\nThe machine was busy with other work: ${
        Math.round(waited * 100)
      } % of the time what is measured could have run and others had ` +
        "its core. Trust CPU times and ratios more than rates and latencies.",
    );
  }
  if (failed.length > 0) {
    console.log(
      `\nWhat failed, and so says little:\n\n${failed.map((line) => `- ${line}`).join("\n")}`,
    );
  }
  Deno.exit(failed.length > 0 ? 1 : 0);
}

/** Where and how a table came about. */
function machine(): string {
  let cpu = "a processor that does not say what it is";
  try {
    cpu = /^model name\s*: (.*)$/m.exec(Deno.readTextFileSync("/proc/cpuinfo"))?.[1] ?? cpu;
  } catch {
    // Not Linux.
  }
  const { deno, v8 } = Deno.version;
  const gigabytes = (Deno.systemMemoryInfo().total / 2 ** 30).toFixed(0);
  return [
    `${navigator.hardwareConcurrency} cores of ${cpu}, ${gigabytes} GB, ${Deno.build.target}, kernel ${Deno.osRelease()}`,
    `Deno ${deno}, V8 ${v8}, Sluice ${manifest.version}; started with ${V8_FLAGS}`,
    `deno task bench ${Deno.args.map((arg, i) => Deno.args[i - 1] === "--key" ? "KEY" : arg).join(" ")}`
      .trimEnd(),
  ].join("\n");
}

/** The part of the time, in a middle round, in which what is measured had to wait for its core; null: unknown. */
function waitedForCore(): number | null {
  const parts = kept.flatMap(({ seen }) => seen.waited === null ? [] : [seen.waited]);
  return parts.length === 0 ? null : median(parts);
}

/** What went wrong in a round, and how much of its core others had meanwhile; null: nothing. */
function wrongIn({ requests, errors, failures, unasked, waited }: Seen): string | null {
  const wrong = Object.entries(failures).map(([what, count]) => `${count} × ${what}`);
  if (unasked > 0) wrong.push(`${unasked} calls not asked, since all connections waited`);
  if (wrong.length === 0) return null;
  const others = waited === null
    ? ""
    : `; others had its core for ${Math.round(waited * 100)} % of the time that it could have run`;
  return `${errors} of ${requests + errors} calls failed: ${wrong.join("; ")}${others}`;
}

/** Compiled code is what is measured: each path has run some thousand times before the first round. */
async function warm({ load, gateway, json, byob }: Bench): Promise<void> {
  say("warming up");
  const shape = { connections: 32, warmMs: 0, runMs: values.quick ? 500 : 1500, helpers: [] };
  await load.work({ ...call({ name: "", program: json, format: "chat" }, "whole"), ...shape });
  await load.work({ ...call({ name: "", program: byob, format: "messages" }, "stream-50-1"), ...shape });
  for (const format of ["chat", "messages", "responses"] as const) {
    await load.work({ ...call(gatewayAs(gateway, format), "whole"), ...shape });
  }
  await load.work({ ...call(gatewayAs(gateway, "messages"), "stream-50-1"), ...shape });
}
