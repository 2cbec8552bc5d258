/**
 * The benchmark's callers, as a program of its own: takes jobs as lines of JSON on its input, does one at a time, and prints
 * what it saw as a line of JSON each.
 *
 * It speaks just enough HTTP/1.1 over raw connections, and HTTP/2 through `node:http2`, to count answers and frames, and to notice errors and answers that
 * are cut. CPU time and memory of what is measured are read here too, at the very ends of the window.
 */
import { Buffer } from "node:buffer";
import { asksByHttp2 } from "./http2_line.ts";
import { lines } from "./lines.ts";
import { type Asking, Run, STOPPED_MS } from "./run.ts";
import { cpuMicros, residentBytes, waitedMicros } from "./system.ts";
import { pause } from "../support/time.ts";

export interface Job {
  port: number;
  path: string;
  headers: Record<string, string>;
  body: string;
  connections: number;
  /** The callers are behind TLS and speak HTTP/2: so many requests at once, over an eighth of the connections. */
  http2?: boolean;
  /** Requests a second over all connections; absent: each connection asks again once it is answered. */
  rate?: number;
  /** Time before counting begins, and of counting. */
  warmMs: number;
  runMs: number;
  /** So many calls are counted from the first one on, in place of a time; then the time until what they leave to do is done. */
  calls?: number;
  settleMs?: number;
  /** Time over which the connections begin. */
  rampMs?: number;
  /** Text that the first token of an answer shows. */
  token: string;
  /** Text that a whole stream ends with; absent: no stream is expected. */
  end?: string;
  /** What is measured, and who else works for the measurement. */
  pid: number;
  helpers: readonly number[];
}

export interface Seen {
  requests: number;
  frames: number;
  seconds: number;
  /** Microseconds from a request to the end of its answer, and to its first token. */
  latency: Quantiles;
  firstToken: Quantiles;
  errors: number;
  /** What went wrong how often. */
  failures: Readonly<Record<string, number>>;
  /** Answers, good and bad, during which this program stood still for seconds, as others do that are stopped with it. */
  stopped: number;
  /** Calls of a fixed rate that were not asked, because every connection waited for an answer. */
  unasked: number;
  /** CPU time of what is measured, in microseconds; null: this system does not say. */
  cpuMicros: number | null;
  /** The part of the time in which its main thread could have run and others had its core; null: unknown. */
  waited: number | null;
  /** The part of one core that the load and its helpers took. */
  helpersBusy: number | null;
  residentBytes: number | null;
}

export interface Quantiles {
  p50: number;
  p99: number;
}

/** Where the last one of these stands in a request, each request has a number of its own. */
const NUMBER = "00000000";
const TAIL_BYTES = 128;
/** A connection that has rested so long is closed and another opened, as careful clients do: the other side may close it any moment. */
const REST_MS = 15_000;
const LF = 10;
const REFUSAL_CHARS = 500;

/** One connection to what is measured. */
class Line implements Asking {
  #conn: Deno.Conn;
  readonly #run: Run;
  readonly #job: Job;
  readonly #request: Buffer;
  readonly #number: number;
  readonly #buffer: Buffer;
  readonly #tail = Buffer.alloc(TAIL_BYTES);
  /** Bytes of the buffer that are read and not yet used. */
  #from = 0;
  #to = 0;
  #sawToken = false;
  /** What a refusal begins with; null: the answer is none. */
  #refusal: string | null = null;
  #afterLf = false;
  #asked = 0;
  /** Since when it rests. */
  #rests = performance.now();

  constructor(conn: Deno.Conn, run: Run, job: Job, request: Buffer) {
    this.#conn = conn;
    this.#run = run;
    this.#job = job;
    this.#request = Buffer.from(request);
    this.#number = request.lastIndexOf(NUMBER);
    this.#buffer = Buffer.alloc(job.end === undefined ? 16384 : 4096);
  }

  async #more(): Promise<void> {
    if (this.#from === this.#to) this.#from = this.#to = 0;
    else if (this.#to === this.#buffer.length) {
      if (this.#from === 0) throw new Error("a head or a chunk's size line is too long");
      this.#buffer.copyWithin(0, this.#from, this.#to);
      this.#to -= this.#from;
      this.#from = 0;
    }
    const n = await this.#conn.read(this.#buffer.subarray(this.#to));
    if (n === null) throw new Error("the connection was closed within an answer");
    this.#to += n;
  }

  /** The text before the next `end`, which is passed over. */
  async #until(end: string): Promise<string> {
    while (true) {
      const at = this.#buffer.subarray(this.#from, this.#to).indexOf(end);
      if (at >= 0) {
        const text = this.#buffer.toString("latin1", this.#from, this.#from + at);
        this.#from += at + end.length;
        return text;
      }
      await this.#more();
    }
  }

  /** Passes over this many bytes of a body. */
  async #body(bytes: number): Promise<void> {
    let left = bytes;
    while (left > 0) {
      if (this.#from === this.#to) await this.#more();
      const end = Math.min(this.#to, this.#from + left);
      left -= end - this.#from;
      this.#look(this.#from, end);
      this.#from = end;
    }
  }

  #look(from: number, to: number): void {
    const { end, token } = this.#job;
    const bytes = this.#buffer.subarray(from, to);
    if (this.#refusal !== null && this.#refusal.length < REFUSAL_CHARS) {
      this.#refusal += bytes.toString("utf8", 0, REFUSAL_CHARS);
    }
    if (!this.#sawToken && bytes.includes(token)) {
      this.#sawToken = true;
      if (this.#run.counting) this.#run.firstTokens.push((performance.now() - this.#asked) * 1000);
    }
    if (end === undefined) return;
    let frames = 0;
    if (this.#afterLf && bytes[0] === LF) frames++;
    for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, at + 1)) {
      if (bytes[at + 1] === LF) frames++;
    }
    this.#afterLf = bytes[bytes.length - 1] === LF;
    if (this.#run.counting) this.#run.frames += frames;
    if (bytes.length >= TAIL_BYTES) bytes.copy(this.#tail, 0, bytes.length - TAIL_BYTES);
    else {
      this.#tail.copyWithin(0, bytes.length);
      bytes.copy(this.#tail, TAIL_BYTES - bytes.length);
    }
  }

  /** Asks once. Throws when the connection is of no more use. */
  async ask(): Promise<void> {
    const run = this.#run;
    this.#sawToken = false;
    this.#afterLf = false;
    if (run.now() - this.#rests > REST_MS) {
      this.#conn.close();
      this.#conn = await connectTo(this.#job);
    }
    this.#asked = performance.now();
    const bytes = this.#request;
    if (this.#number >= 0) bytes.write(String(run.asked++).padStart(NUMBER.length, "0"), this.#number);
    let written = await this.#conn.write(bytes);
    while (written < bytes.length) written += await this.#conn.write(bytes.subarray(written));
    const head = await this.#until("\r\n\r\n");
    const status = head.slice(9, 12);
    this.#refusal = status === "200" ? null : "";
    const length = /\r\ncontent-length: *(\d+)/i.exec(head);
    if (length) await this.#body(Number(length[1]));
    else {
      for (let size = -1; size !== 0;) {
        size = parseInt(await this.#until("\r\n"), 16);
        if (Number.isNaN(size)) throw new Error("a chunk's size is no number");
        await this.#body(size);
        await this.#until("\r\n");
      }
    }
    const { end } = this.#job;
    run.answered({
      status,
      ...(this.#refusal !== null && { refusal: this.#refusal }),
      sawToken: this.#sawToken,
      ended: end === undefined || this.#tail.includes(end),
      asked: this.#asked,
    });
    this.#rests = performance.now();
  }

  get asked(): number {
    return this.#asked;
  }

  close(): void {
    this.#conn.close();
  }
}

async function connectTo({ port }: Job): Promise<Deno.Conn> {
  const conn = await Deno.connect({ hostname: "127.0.0.1", port });
  conn.setNoDelay(true);
  return conn;
}

function quantiles(values: number[]): Quantiles {
  values.sort((a, b) => a - b);
  const at = (q: number) => values[Math.min(values.length - 1, Math.floor(values.length * q))] ?? 0;
  return { p50: at(0.5), p99: at(0.99) };
}

async function work(job: Job): Promise<Seen> {
  const run = new Run();
  const body = new TextEncoder().encode(job.body);
  const head = [
    `POST ${job.path} HTTP/1.1`,
    `host: 127.0.0.1:${job.port}`,
    "content-type: application/json",
    `content-length: ${body.length}`,
    ...Object.entries(job.headers).map(([name, value]) => `${name}: ${value}`),
  ];
  const request = Buffer.concat([Buffer.from(head.join("\r\n") + "\r\n\r\n"), body]);

  const sessions = job.http2 ? asksByHttp2(job, run) : null;
  const open = async (): Promise<Asking> => {
    if (sessions !== null) return sessions.next();
    return new Line(await connectTo(job), run, job, request);
  };
  let left = job.calls ?? Infinity;
  const closed = async (i: number) => {
    await pause((job.rampMs ?? 0) * i / job.connections);
    let line = await open();
    while (!run.over && left-- > 0) {
      try {
        await line.ask();
      } catch (error) {
        run.failed(error instanceof Error ? error.message : String(error), line.asked);
        line.close();
        await pause(10);
        line = await open();
      }
    }
    line.close();
  };
  const runs = () =>
    job.rate === undefined
      ? Promise.all(Array.from({ length: job.connections }, (_, i) => closed(i)))
      : atRate(job.rate, run, job.connections, open);
  const before = job.calls === undefined ? runs() : null;

  await pause(job.warmMs);
  const helpers = () => [Deno.pid, ...job.helpers].map(cpuMicros);
  const cpu = cpuMicros(job.pid);
  const waited = waitedMicros(job.pid);
  const others = helpers();
  const started = performance.now();
  run.counting = true;
  const running = before ?? runs();
  if (before !== null) await pause(job.runMs);
  else {
    await running;
    await pause(job.settleMs ?? 0);
  }
  run.counting = false;
  const micros = (performance.now() - started) * 1000;
  const spent = (before: number | null, after: number | null) =>
    before === null || after === null ? null : after - before;
  const cpuSpent = spent(cpu, cpuMicros(job.pid));
  const waitedFor = spent(waited, waitedMicros(job.pid));
  const othersSpent = helpers().map((after, i) => spent(others[i], after));
  const resident = residentBytes(job.pid);
  run.over = true;
  // Streams are read to their end, so that nothing of this job is left when the next begins.
  await running;
  sessions?.close();
  run.end();
  return {
    requests: run.requests,
    frames: run.frames,
    seconds: micros / 1e6,
    latency: quantiles(run.latencies),
    firstToken: quantiles(run.firstTokens),
    errors: run.errors,
    failures: run.failures,
    stopped: run.stopped,
    unasked: run.unasked,
    cpuMicros: cpuSpent,
    waited: waitedFor === null ? null : waitedFor / micros,
    helpersBusy: othersSpent.includes(null)
      ? null
      : othersSpent.reduce<number>((sum, n) => sum + n!, 0) / micros,
    residentBytes: resident,
  };
}

/** Asks at fixed times on whichever connection is free, so that a slow answer does not thin out the load. */
async function atRate(
  rate: number,
  run: Run,
  connections: number,
  open: () => Promise<Asking>,
): Promise<void> {
  const free = await Promise.all(Array.from({ length: connections }, open));
  const asking = new Set<Promise<void>>();
  let started = performance.now();
  for (let i = 0; !run.over; i++) {
    let due = started + i * 1000 / rate;
    // What was not asked while the program was stopped is not asked all at once.
    const late = performance.now() - due;
    if (late > STOPPED_MS) {
      started += late;
      due += late;
    }
    while (performance.now() < due && !run.over) await pause(Math.max(0, due - performance.now()));
    const line = free.pop();
    if (line === undefined) {
      run.unasked++;
      await pause(1);
      continue;
    }
    const asked: Promise<void> = line.ask().then(
      () => void free.push(line),
      (error) => {
        run.failed(String(error), line.asked);
        line.close();
        return open().then((fresh) => void free.push(fresh), (thrown) => run.failed(String(thrown)));
      },
    ).finally(() => asking.delete(asked));
    asking.add(asked);
  }
  await Promise.all(asking);
  for (const line of free) line.close();
}

if (import.meta.main) {
  for await (const line of lines(Deno.stdin.readable)) {
    console.log(JSON.stringify(await work(JSON.parse(line))));
  }
}
