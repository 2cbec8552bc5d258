/**
 * What workers on one port tell each other, by way of the process that started them: any of them can then answer for all.
 *
 * Lines of JSON over loopback, since a worker's own output is its log. A hub knows its workers by a secret that only they were
 * given.
 */
import { TextLineStream } from "@std/streams/text_line_stream.js";

/** One that has not answered by then is left out. */
const PATIENCE_MS = 1000;
const HELLO_MS = 5000;

/** What was told, by the number of the worker. */
export type Told = Readonly<Record<string, unknown>>;

export interface Siblings {
  /** What the others tell now; without those that do not answer. */
  ask(): Promise<Told>;
  close(): void;
}

interface Message {
  hello?: string;
  worker?: number;
  /** Of a worker: what do the others say? Of a hub: what do you say? */
  ask?: number;
  /** The answer to it. */
  told?: number;
  value?: unknown;
}

/** One end of a connection; what cannot be sent is lost with the connection. */
class Line {
  readonly #connection: Deno.Conn;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;

  constructor(connection: Deno.Conn) {
    this.#connection = connection;
    this.#writer = connection.writable.getWriter();
  }

  send(message: Message): void {
    this.#writer.write(new TextEncoder().encode(JSON.stringify(message) + "\n")).catch(() => {});
  }

  async *messages(): AsyncGenerator<Message> {
    try {
      const lines: ReadableStream<string> = this.#connection.readable.pipeThrough(new TextDecoderStream())
        .pipeThrough(new TextLineStream());
      for await (const line of lines) yield JSON.parse(line);
    } catch {
      // The other end is gone, or is no worker.
    }
  }

  close(): void {
    try {
      this.#connection.close();
    } catch {
      // It is closed.
    }
  }
}

export interface Hub {
  /** For {@link joinHub}: port and secret. */
  address: string;
  close(): void;
}

interface Question {
  waiting: Set<Line>;
  told: Record<string, unknown>;
  done(): void;
}

/** Passes on what workers ask each other. */
export function openHub(): Hub {
  const secret = crypto.randomUUID();
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const workers = new Map<Line, number>();
  const questions = new Map<number, Question>();
  let asked = 0;

  function ask(from: Line, id: number): void {
    const question = ++asked;
    const others = [...workers.keys()].filter((line) => line !== from);
    const told: Record<string, unknown> = {};
    const done = () => {
      clearTimeout(timer);
      if (questions.delete(question)) from.send({ told: id, value: told });
    };
    const timer = setTimeout(done, PATIENCE_MS);
    questions.set(question, { waiting: new Set(others), told, done });
    for (const line of others) line.send({ ask: question });
    if (others.length === 0) done();
  }

  function answered(from: Line, id: number, value: unknown): void {
    const question = questions.get(id);
    if (!question?.waiting.delete(from)) return;
    question.told[workers.get(from)!] = value;
    if (question.waiting.size === 0) question.done();
  }

  async function attend(connection: Deno.Conn): Promise<void> {
    const line = new Line(connection);
    const stranger = setTimeout(() => line.close(), HELLO_MS);
    for await (const { hello, worker, ask: question, told, value } of line.messages()) {
      if (!workers.has(line)) {
        if (hello !== secret || worker === undefined) break;
        clearTimeout(stranger);
        workers.set(line, worker);
      } else if (question !== undefined) ask(line, question);
      else if (told !== undefined) answered(line, told, value);
    }
    clearTimeout(stranger);
    workers.delete(line);
    for (const { waiting, done } of [...questions.values()]) {
      if (waiting.delete(line) && waiting.size === 0) done();
    }
    line.close();
  }

  void (async () => {
    for await (const connection of listener) void attend(connection);
  })().catch(() => {});
  return {
    address: `${listener.addr.port}:${secret}`,
    close() {
      listener.close();
      for (const line of workers.keys()) line.close();
    },
  };
}

/** @param tell what this worker says to others that ask */
export async function joinHub(address: string, worker: number, tell: () => unknown): Promise<Siblings> {
  const [port, secret] = address.split(":");
  const line = new Line(await Deno.connect({ hostname: "127.0.0.1", port: Number(port) }));
  const waiting = new Map<number, (told: Told) => void>();
  let asked = 0;
  let gone = false;
  line.send({ hello: secret, worker });
  void (async () => {
    for await (const { ask, told, value } of line.messages()) {
      if (ask !== undefined) line.send({ told: ask, value: tell() });
      else if (told !== undefined) waiting.get(told)?.(value as Told);
    }
    gone = true;
    for (const resolve of waiting.values()) resolve({});
  })();
  return {
    async ask() {
      if (gone) return {};
      const id = ++asked;
      try {
        return await new Promise<Told>((resolve) => {
          waiting.set(id, resolve);
          line.send({ ask: id });
        });
      } finally {
        waiting.delete(id);
      }
    },
    close: () => line.close(),
  };
}
