/**
 * `deno task chaos`: gateways under load are killed, cut off and starved, and at the end every number must fit.
 *
 * Three programs: the gateways, a provider that writes down what it said, and this one, which calls, disturbs and counts.
 * The exit status is 0 when nothing was lost, doubled, miscounted or left reserved.
 */
import { parseArgs } from "node:util";
import type { Engine } from "../../src/store/engine.ts";
import { formatAmount, parseAmount } from "../../src/accounts/budgets/money.ts";
import { openPostgres } from "../../src/store/postgres/mod.ts";
import { openSqlite } from "../../src/store/sqlite/mod.ts";
import { proofOf } from "../../src/commands/ledger.ts";
import { makeCluster, postgresHere } from "../support/cluster.ts";
import { judge, parseHeard, type Recorded } from "./check.ts";
import { strayedBudgets, strayedSums, toldTwice } from "./sums.ts";
import { type Care, PAST, stated, strayedBackup, strayedPast, takeCare } from "./care.ts";
import { type Counted, disturb, mountSmall, unmount } from "./disturb.ts";
import { type CameBack, sendResuming } from "./come_back.ts";
import { draw, type Send, send, type Sent, startLoad } from "./load.ts";
import {
  ACCOUNT,
  ADMIN_KEY,
  type Node,
  type Nodes,
  readLines,
  startNodes,
  TIGHT,
  TIGHT_LIMIT,
} from "./nodes.ts";
import { pause } from "../support/time.ts";

const HELP =
  `deno task chaos [--store sqlite|postgres] [--nodes 1|3] [--kills N] [--requests N] [--seconds N] [--resume]

  --store     sqlite (usual), or postgres: a private cluster of Debian's package
  --nodes     how many gateways (1)
  --kills     how many SIGKILLs to aim for (12)
  --requests  how many requests to aim for (4000)
  --seconds   the longest that load and disturbances may last (60)
  --callers   callers at once (16)
  --diskless  with postgres: nodes keep no journal, and the database stays up
  --resume    every caller comes back for the end of its stream, and repeats what has no answer
  --keep      leave the folder with store, logs and the provider's notes
`;

const { values } = parseArgs({
  args: Deno.args,
  options: {
    store: { type: "string", default: "sqlite" },
    nodes: { type: "string", default: "1" },
    kills: { type: "string", default: "12" },
    requests: { type: "string", default: "4000" },
    seconds: { type: "string", default: "60" },
    callers: { type: "string", default: "16" },
    diskless: { type: "boolean", default: false },
    resume: { type: "boolean", default: false },
    keep: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
const wrong = !["sqlite", "postgres"].includes(values.store) ||
  (values.diskless && values.store === "sqlite");
if (values.help || wrong) {
  console.log(HELP);
  Deno.exit(values.help ? 0 : 2);
}
if (values.store === "postgres" && postgresHere === null) Deno.exit(2);

const began = performance.now();
const elapsed = () => (performance.now() - began) / 1000;
const say = (line: string) => console.log(`${elapsed().toFixed(0).padStart(4)} s  ${line}`);
const folder = await Deno.makeTempDir({ prefix: "sluice-chaos-" });
const disk = `${folder}/disk`;
await Deno.mkdir(disk);
const hasDisk = !values.diskless && await mountSmall(disk, 384);
if (!hasDisk && !values.diskless) {
  say("filling the disk is skipped: a small file system to fill takes Linux and root");
}
const cluster = values.store === "postgres" ? await makeCluster() : null;
const file = cluster === null ? `${disk}/store.db` : null;
const storeUrl = cluster?.url ?? `sqlite:${file}`;
const openEngine = () => file === null ? openPostgres(storeUrl, { connections: 2 }) : openSqlite(file);
let passed = false;
try {
  passed = await run();
} finally {
  await cluster?.remove();
  if (values.keep) {
    await Deno.mkdir(`${folder}/kept`);
    for (const { name } of Deno.readDirSync(disk)) {
      await Deno.copyFile(`${disk}/${name}`, `${folder}/kept/${name}`);
    }
    say(`kept: ${folder}`);
  }
  if (hasDisk) await unmount(disk);
  if (!values.keep) await Deno.remove(folder, { recursive: true });
}
console.log(passed ? "PASS" : "FAIL");
Deno.exit(passed ? 0 : 1);

async function run(): Promise<boolean> {
  const provider = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--no-check",
      new URL("provider.ts", import.meta.url).pathname,
      `${folder}/heard`,
    ],
    stdout: "piped",
    stderr: "null",
  }).spawn();
  let told: (number: number) => void = () => {};
  const port = await new Promise<string>((resolve) => {
    void readLines(provider.stdout, (line) => {
      const [word, value] = line.split(" ");
      if (word === "listening") resolve(value);
      else told(Number(word));
    });
  });
  const nodes = await startNodes({
    count: Number(values.nodes),
    provider: `http://127.0.0.1:${port}`,
    store: storeUrl,
    journal: values.diskless ? null : `${disk}/node`,
    config: `${folder}/config.json`,
    stderr: `${folder}/nodes.log`,
  });
  try {
    await allUp(nodes);
    say(`${values.nodes} gateway(s) over ${values.store}, ${values.callers} callers`);
    const creditsBefore = await balance(nodes.list[0]);
    const comesBack: Send = (node, order) => sendResuming(nodes.list, { node, ...order }, draw(order));
    const load = startLoad(nodes.list, Number(values.callers), values.resume ? comesBack : undefined);
    told = (number) => {
      load.told.get(number)?.kill();
      load.told.delete(number);
    };
    const disturbance = disturb({
      nodes,
      load,
      everySeconds: Number(values.seconds) / (Number(values.kills) + 1),
      kills: Number(values.kills),
      cluster: values.diskless ? null : cluster,
      disk: hasDisk ? disk : null,
      file,
    });
    const care = takeCare({ url: storeUrl, folder, engine: openEngine });
    let lastLine = 0;
    const { counted } = disturbance;
    const enough = () => counted.kills >= Number(values.kills) && load.sent.length >= Number(values.requests);
    while (!enough() && elapsed() < Number(values.seconds)) {
      await pause(200);
      if (elapsed() - lastLine < 5) continue;
      lastLine = elapsed();
      say(progress(load.sent.length, counted));
    }
    await disturbance.stop();
    await Promise.all([load.stop(), care.stop()]);
    say(progress(load.sent.length, counted));

    await allUp(nodes);
    await quiet(nodes);
    const probe = await send(nodes.list[0], {
      number: 9_000_000,
      key: TIGHT,
      plan: "ok",
      tell: false,
    });
    await quiet(nodes);
    const creditsAfter = await balance(nodes.list[0]);
    const statements = await stated(nodes.list[0], Date.now() - elapsed() * 1000);
    const codes = await nodes.end();
    say(`stopped, exit status ${codes.join(", ")}`);
    if (cluster !== null) await cluster.start();
    return await verdict([...load.sent, probe], {
      nodes,
      spent: creditsBefore - creditsAfter,
      codes,
      probe,
      care,
      statements,
    });
  } finally {
    await nodes.end();
    provider.kill("SIGTERM");
    await provider.status;
  }
}

function progress(requests: number, { kills, aimed, outages, fills, locks }: Counted): string {
  return `${requests} requests, ${kills} kills (${aimed} aimed), ` +
    (cluster ? `${outages} database outages` : `${locks} locks`) + `, ${fills} full disks`;
}

async function allUp(nodes: Nodes): Promise<void> {
  const until = performance.now() + 30_000;
  while (!nodes.list.every((node) => node.up)) {
    if (performance.now() > until) throw new Error(`A gateway does not start: see ${folder}/nodes.log`);
    await pause(50);
  }
}

/** Until nothing runs, every record is in the store, and the dead are cleared away. */
async function quiet(nodes: Nodes): Promise<void> {
  const until = performance.now() + 90_000;
  while (performance.now() < until) {
    const gauges = await Promise.all(nodes.list.map(async ({ url }) => {
      const text =
        await (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${ADMIN_KEY}` } })).text();
      const gauge = (name: string) => Number(new RegExp(`^${name} (\\S+)`, "m").exec(text)?.[1] ?? NaN);
      return [gauge("sluice_in_flight"), gauge("sluice_records_pending"), 1 - gauge("sluice_store_up")];
    }));
    if (gauges.flat().every((value) => value === 0) && await deadAreGone(nodes.list.length)) return;
    await pause(200);
  }
  say("the gateways have not come to rest");
}

/** Whether the store knows of no more nodes than there are: it takes up to a minute to see that one does not come back. */
async function deadAreGone(living: number): Promise<boolean> {
  const engine = openEngine();
  const [{ n }] = await engine.query("SELECT COUNT(*) AS n FROM nodes");
  await engine.close();
  return Number(n) <= living;
}

async function balance(node: Node): Promise<bigint> {
  for (let attempt = 0;; attempt++) {
    const response = await fetch(`${node.url}/admin/accounts/${ACCOUNT}/credits`, {
      headers: { authorization: `Bearer ${ADMIN_KEY}` },
    });
    const body = await response.json();
    if (response.ok) return parseAmount(body.balance)!;
    if (attempt === 50) throw new Error(`Cannot read credits: ${JSON.stringify(body)}`);
    await pause(200);
  }
}

interface Outcome {
  nodes: Nodes;
  spent: bigint;
  codes: number[];
  probe: Sent;
  care: Care;
  statements: Awaited<ReturnType<typeof stated>>;
}

async function verdict(
  sent: Sent[],
  { nodes, spent, codes, probe, care, statements }: Outcome,
): Promise<boolean> {
  const heard = parseHeard(await Deno.readTextFile(`${folder}/heard`));
  const engine = openEngine();
  const records = await readRecords(engine);
  const one = async (sql: string) => BigInt((await engine.query(sql))[0].n ?? 0);
  const open = {
    leases: await one("SELECT COUNT(*) AS n FROM leases WHERE amount > 0"),
    running: await one("SELECT COUNT(*) AS n FROM running"),
    nodes: await one("SELECT COUNT(*) AS n FROM nodes"),
  };
  const strayed = await strayedSums(engine);
  const budgets = await strayedBudgets(engine);
  const told = toldTwice(await Deno.readTextFile(`${folder}/heard.hooks`));
  const ledger = await one(`SELECT spent AS n FROM budgets WHERE id = 'a:${ACCOUNT}'`);
  const past = await strayedPast(engine, care.written);
  await engine.close();
  const copy = care.file === null ? [] : await strayedBackup(care.file, folder);
  const proof = await proofOf({ url: storeUrl, pepper: null, journal: null });
  const journals = [...Deno.readDirSync(disk)].map(({ name }) => name)
    .filter((name) => /\.(journal|lock|next|probe)$/.test(name));

  const { problems, counts } = judge({
    sent,
    heard,
    records,
    kills: nodes.kills,
    diskless: values.diskless,
  });
  const tight = records.filter((r) => r.key === TIGHT.name).reduce((sum, r) => sum + r.cost, 0n);
  const tightLimit = parseAmount(TIGHT_LIMIT)!;
  // More than any estimate of such a request: a prompt of some 450 characters and 512 tokens of output.
  const fitsSurely = 2_500_000_000n;
  const refusals = Map.groupBy(sent.filter((s) => s.status !== null && s.status !== 200), (s) => s.status);
  const saw = Map.groupBy(sent, (s) => s.saw);
  const fails = (condition: boolean, line: string) => {
    if (condition) problems.push(line);
  };
  const back = sent.filter((one): one is CameBack => "connections" in one);
  for (const { number, wrong, id, saw } of back) {
    if (wrong !== null) problems.push(`${number}: ${wrong} (${id}, saw ${saw})`);
  }
  fails(counts.billedInput !== counts.reportedInput, "input tokens billed are not those reported");
  fails(counts.billedOutput !== counts.reportedOutput, "output tokens billed are not those reported");
  fails(counts.searchesBilled !== counts.searchesRun, "searches billed are not those that ran");
  fails(spent !== counts.cost, "credits before less after are not the sum of costs");
  fails(ledger !== counts.cost, "the account's budget is not the sum of costs");
  fails(strayed.length > 0, `sums are not those of the records: ${strayed.join(", ")}`);
  fails(budgets.length > 0, `budgets are not what was spent of them: ${budgets.slice(0, 5).join(", ")}`);
  fails(told.length > 0, `events were told under several ids: ${told.slice(0, 5).join(", ")}`);
  problems.push(...past, ...copy);
  for (const [of, { generations, cost }] of Object.entries(statements)) {
    fails(
      generations !== records.length || cost !== counts.cost,
      `the statement's ${of} are ${generations} generations for ${formatAmount(cost)}`,
    );
  }
  fails(proof.faults > 0, `the ledger is not intact: ${JSON.stringify(proof.shown.slice(0, 5))}`);
  fails(proof.unchained > 0, `${proof.unchained} records are in no chain`);
  fails(open.leases > 0n, "leases are left");
  fails(open.running > 0n, "running generations are left");
  fails(open.nodes > 0n, "dead nodes are left");
  fails(journals.length > 0, `journals are left: ${journals.join(" ")}`);
  fails(codes.some((code) => code !== 0), "a gateway ended with a status other than 0");
  fails(nodes.badEnds > 0, `${nodes.badEnds} restarts ended with a status other than 0`);
  fails(tight > tightLimit + 200_000_000n * BigInt(values.nodes), "the small limit was passed by too much");
  fails(
    probe.status === 429 && tightLimit - tight > fitsSurely,
    "the small limit refuses what it has room for",
  );

  const list = (map: Map<unknown, unknown[]>) =>
    [...map].map(([k, v]) => `${k} ${v.length}`).sort().join(", ");
  console.log(`
requests sent             ${sent.length} (callers saw: ${list(saw)})
refused or failed         ${list(refusals) || "none"} (by status)
kills                     ${nodes.kills.length}, ${counts.exposed} requests under way
reached the provider      ${counts.reached}
records                   ${records.length} (${
    Object.entries(counts.statuses).map(([k, v]) => `${k} ${v}`).join(", ")
  })
owed                      ${counts.owed}${
    values.diskless ? `, and ${counts.forgotten} forgotten with their gateway` : ""
  }
proven by the caller      ${counts.proven} saw the end, all recorded
input tokens              billed ${counts.billedInput}, reported ${counts.reportedInput}
output tokens             billed ${counts.billedOutput}, reported ${counts.reportedOutput}
searches                  billed ${counts.searchesBilled}, run ${counts.searchesRun}
chained                   ${proof.chained} in ${proof.chains} chains, ${proof.replaced} replaced
costs                     ${formatAmount(counts.cost)}
credits before less after ${formatAmount(spent)}
statement                 ${
    formatAmount(statements.total.cost)
  } for ${statements.total.generations} generations
past the retention        ${care.written} written${proof.retiredBefore > 0 ? ", deleted while calls ran" : ""}
backups                   ${care.backups}
small limit               ${TIGHT_LIMIT}, spent ${formatAmount(tight)}
left over                 ${open.leases} leases, ${open.running} running, ${open.nodes} nodes, ${journals.length} journals
restarts                  ${nodes.restarts}, and ${nodes.failedStarts} starts that failed`);
  if (back.length > 0) {
    const again = back.reduce((sum, { connections }) => sum + connections - 1, 0);
    console.log(
      `came back                 ${again} times, ${
        back.filter((one) => one.unkept).length
      } streams not kept, ` +
        `${back.filter((one) => one.saw === "interrupted").length} interrupted, ` +
        `${back.filter((one) => one.saw === "lost" && one.id !== null).length} given up`,
    );
  }
  for (const [line, count] of nodes.logs) console.log(`  ${String(count).padStart(6)} x ${line}`);
  if (problems.length > 0) {
    console.log(`\n${problems.length} problems:`);
    for (const problem of problems.slice(0, 40)) console.log(`  ${problem}`);
  }
  return problems.length === 0;
}

async function readRecords(engine: Engine): Promise<Recorded[]> {
  const rows = await engine.query(
    `SELECT id, created, key_name, status, measured, input, cached, output, reasoning, searches, cost
     FROM generations WHERE account <> '${PAST}'`,
  );
  const number = (value: unknown) => value === null ? null : Number(value);
  return rows.map((row) => ({
    id: String(row.id),
    created: Number(row.created),
    key: String(row.key_name),
    status: String(row.status),
    measured: Number(row.measured) === 1,
    input: number(row.input),
    cached: number(row.cached),
    output: number(row.output),
    reasoning: number(row.reasoning),
    searches: Number(row.searches),
    cost: BigInt(row.cost!),
  }));
}
