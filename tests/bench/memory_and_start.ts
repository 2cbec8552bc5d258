/** What the gateway takes before it has much to do: memory of its own and of streams that wait, and a start. */
import { pause } from "../support/time.ts";
import { call, gatewayAs, type Target } from "./calls.ts";
import {
  FEW_SECTIONS,
  type Load,
  SCREENING_SECTIONS,
  startGateway,
  startLoad,
  startRelay,
} from "./programs.ts";
import { type Bench, relay, row } from "./rounds.ts";
import { residentBytes } from "./system.ts";
import { atMost, median, type Row } from "./table.ts";

const MB = 1024 * 1024;
/** From the first calls to the look at what is resident: what a start leaves is given back by then. */
const IDLE_MS = 2000;

type Sections = Record<string, unknown>;
type Goals = Parameters<typeof row>[4];

/** Fresh programs, each with a load of its own, side by side: memory does not depend on who else runs. */
export async function memory(bench: Bench): Promise<Row[]> {
  const folder = `${bench.folder}/memory`;
  await Deno.mkdir(folder);
  const programs = [await startGateway(folder, bench.provider), await startRelay("byob", bench.provider)];
  const loads = [startLoad(bench.provider), startLoad(bench.provider)];
  const targets = [gatewayAs(programs[0], "messages"), relay(programs[1], "BYOB converter", "messages")];
  const rows: Row[] = [];
  try {
    const goals = { must: atMost(110), stretch: atMost(80) };
    rows.push(await idle(bench, loads[0], { name: "idle memory", sections: FEW_SECTIONS, goals }));
    const screening = { name: "idle memory, with DLP policies", sections: SCREENING_SECTIONS };
    rows.push(await idle(bench, loads[0], screening));
    for (const connections of bench.quick ? [1000] : [1000, 5000]) {
      const rampMs = connections;
      bench.say(`memory: ${connections} slow streams`);
      const seen = await Promise.all(targets.map((target, i) =>
        loads[i].work({
          ...call(target, "stream-4-1000"),
          connections,
          rampMs,
          warmMs: rampMs + 2000,
          runMs: 500,
          helpers: [],
        })
      ));
      const [gateway, floor] = seen.map((one) => one.residentBytes === null ? [] : [one.residentBytes / MB]);
      for (const [i, one] of seen.entries()) {
        bench.keep(`memory of ${connections} streams`, targets[i], 0, one);
      }
      rows.push(
        row(
          `memory, ${connections.toLocaleString("en")} slow streams`,
          "MB over the BYOB converter",
          gateway,
          floor,
          {
            must: atMost(1.3),
            stretch: atMost(1),
          },
        ),
      );
    }
  } finally {
    await Promise.all([...loads, ...programs].map((program) => program.stop()));
  }
  return rows;
}

/** What a gateway has after its first calls. */
async function idle(
  bench: Bench,
  load: Load,
  { name, sections, goals }: { name: string; sections: Sections; goals?: Goals },
): Promise<Row> {
  bench.say(name);
  const folder = `${bench.folder}/idle`;
  await Deno.mkdir(folder, { recursive: true });
  const program = await startGateway(folder, bench.provider, { sections });
  const shape = { connections: 1, warmMs: 0, runMs: 100, helpers: [] };
  await load.work({ ...call(gatewayAs(program, "messages"), "whole"), ...shape });
  await pause(IDLE_MS);
  const bytes = residentBytes(program.pid);
  await program.stop();
  return row(name, "MB", bytes === null ? [] : [bytes / MB], [], goals);
}

export async function cold(bench: Bench): Promise<Row[]> {
  const folder = `${bench.folder}/cold`;
  await Deno.mkdir(folder);
  const took = async (target: () => Promise<Target>) => {
    const started = performance.now();
    const asked = await target();
    const { port, path, headers, body } = call(asked, "whole");
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: "POST", headers, body });
    await response.text();
    const ms = performance.now() - started;
    await asked.program.stop();
    if (response.status !== 200) throw new Error(`The first answer has status ${response.status}.`);
    return ms;
  };
  const gatewayWith = async (sections: Sections) =>
    gatewayAs(await startGateway(folder, bench.provider, { sections }), "chat");
  const gateway: number[] = [];
  const screening: number[] = [];
  const floor: number[] = [];
  for (let round = 0; round < (bench.rounds ?? (bench.quick ? 2 : 5)); round++) {
    bench.say(`cold ${round + 1}`);
    gateway.push(await took(() => gatewayWith(FEW_SECTIONS)));
    screening.push(await took(() => gatewayWith(SCREENING_SECTIONS)));
    floor.push(await took(async () => relay(await startRelay("json", bench.provider), "JSON relay", "chat")));
  }
  return [
    row("cold start to first answer", "ms", gateway, [], {
      must: atMost(300),
      stretch: atMost(150),
      note: `the JSON relay takes ${median(floor).toFixed(0)} ms`,
    }),
    row("cold start to first answer, with DLP policies", "ms", screening, []),
  ];
}
