/** What calls and frames leave behind on V8's heap, in bytes: read before and after through the inspector. */
import { call, gatewayAs } from "./calls.ts";
import type { Seen } from "./load.ts";
import { startGateway } from "./programs.ts";
import { type Measure, row } from "./rounds.ts";
import type { Row } from "./table.ts";

const ALLOCATED = `import("node:v8").then((v8) => v8.getHeapStatistics().total_allocated_bytes)`;

/** Reads how much a program has allocated so far. */
class Heap {
  readonly #socket: WebSocket;
  #asked = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  static async of(port: number): Promise<Heap> {
    const [{ webSocketDebuggerUrl }] = await (await fetch(`http://127.0.0.1:${port}/json`)).json();
    const socket = new WebSocket(webSocketDebuggerUrl);
    await new Promise((resolve, reject) => {
      socket.onopen = resolve;
      socket.onerror = reject;
    });
    return new Heap(socket);
  }

  async allocated(): Promise<number> {
    const id = ++this.#asked;
    const answer = new Promise<number>((resolve) => {
      this.#socket.addEventListener("message", function heard({ data }) {
        const message = JSON.parse(data);
        if (message.id !== id) return;
        this.removeEventListener("message", heard);
        resolve(message.result.result.value);
      });
    });
    const params = { expression: ALLOCATED, awaitPromise: true, returnByValue: true };
    this.#socket.send(JSON.stringify({ id, method: "Runtime.evaluate", params }));
    return await answer;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#socket.onclose = resolve);
    this.#socket.close();
    await closed;
  }
}

function freePort(): number {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  listener.close();
  return port;
}

export const garbage: Measure = async (bench) => {
  const folder = `${bench.folder}/garbage`;
  await Deno.mkdir(folder);
  const port = freePort();
  const gateway = await startGateway(folder, bench.provider, { flags: [`--inspect=127.0.0.1:${port}`] });
  try {
    const heap = await Heap.of(port);
    const shape = { connections: 8, warmMs: 0, runMs: bench.quick ? 1000 : 3000, helpers: [] };
    const rows: Row[] = [];
    for (const format of ["chat", "messages"] as const) {
      for (const model of ["whole", "stream-50-1"]) {
        const stream = model !== "whole";
        const of = (seen: Seen) => stream ? seen.frames : seen.requests;
        const each: number[] = [];
        // The first time compiles.
        for (let round = 0; round < 4; round++) {
          bench.say(`garbage, ${format} ${model} ${round + 1}/4`);
          const before = await heap.allocated();
          const seen = await bench.load.work({ ...call(gatewayAs(gateway, format), model), ...shape });
          if (round > 0) each.push((await heap.allocated() - before) / of(seen));
        }
        const unit = stream ? "bytes allocated a frame" : "bytes allocated a call";
        rows.push(row(`${stream ? "stream of 50 frames" : "whole answer"}, ${format}`, unit, each, []));
      }
    }
    await heap.close();
    return rows;
  } finally {
    await gateway.stop();
  }
};
