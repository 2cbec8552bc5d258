/**
 * What workers on one port tell each other, by way of the process that started them: any of them can then answer for all.
 *
 * Lines of JSON over loopback, since a worker's own output is its log. A hub knows its workers by a secret that only they were
 * given.
 */
import { Buffer } from "node:buffer";
import { timingSafeEqual } from "node:crypto";

/** One that has not answered by then is left out. */
const PATIENCE_MS = 1000;
const HELLO_MS = 5000;
/** Of who has not said the secret yet; what it says is two short fields. */
const MOST_HELLO_BYTES = 256;
/** Of a worker: its metrics, some hundred bytes each. */
const MOST_LINE_BYTES = 64 << 20;
/** Connections that have not said the secret yet: beyond those the oldest goes, since a worker says it at once. */
const MOST_STRANGERS = 64;
const LINE_FEED = 10;

/** What was told, by the number of the worker. */
export type WorkerAnswers = Readonly<Record<string, unknown>>;

/**
 * What a worker asks the others: for their metrics, or to take in what has just been changed in the store; then the answer
 * says that they have.
 */
export type Subject = "metrics" | "changes";

export interface Siblings {
  /** What the others tell now; without those that do not answer. */
  ask(about: Subject): Promise<WorkerAnswers>;
  close(): void;
}

interface Message {
  hello?: string;
  worker?: number;
  /** Of a worker: what do the others say? Of a hub: what do you say? */
  ask?: number;
  about?: Subject;
  /** The answer to it. */
  told?: number;
  value?: unknown;
}

/** One end of a connection; what cannot be sent is lost with the connection. */
class Line {
  /** A longer line ends the connection. */
  mostBytes = MOST_LINE_BYTES;
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
      for await (const line of this.#lines()) {
        const message: unknown = JSON.parse(new TextDecoder().decode(line));
        if (typeof message !== "object" || message === null) return;
        yield message;
      }
    } catch {
      // The other end is gone, or is no worker.
    }
  }

  async *#lines(): AsyncGenerator<Uint8Array> {
    let pieces: Uint8Array[] = [];
    let size = 0;
    for await (const bytes of this.#connection.readable) {
      let from = 0;
      while (true) {
        const end = bytes.indexOf(LINE_FEED, from);
        const piece = bytes.subarray(from, end < 0 ? undefined : end);
        pieces.push(piece);
        size += piece.length;
        if (size > this.mostBytes) return;
        if (end < 0) break;
        yield Buffer.concat(pieces, size);
        pieces = [];
        size = 0;
        from = end + 1;
      }
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

/**
 * Passes on what workers ask each other.
 *
 * @param helloMs how long who connects has time to say the secret
 */
export function openHub(helloMs = HELLO_MS): Hub {
  const secret = crypto.randomUUID();
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const workers = new Map<Line, number>();
  /** Who has not said the secret yet, the first one first. */
  const strangers = new Set<Line>();
  const questions = new Map<number, Question>();
  let asked = 0;

  function ask(from: Line, id: number, about?: Subject): void {
    const question = ++asked;
    const others = [...workers.keys()].filter((line) => line !== from);
    const told: Record<string, unknown> = {};
    const done = () => {
      clearTimeout(timer);
      if (questions.delete(question)) from.send({ told: id, value: told });
    };
    const timer = setTimeout(done, PATIENCE_MS);
    questions.set(question, { waiting: new Set(others), told, done });
    for (const line of others) line.send({ ask: question, about });
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
    line.mostBytes = MOST_HELLO_BYTES;
    const stranger = setTimeout(() => line.close(), helloMs);
    strangers.add(line);
    const [oldest] = strangers;
    if (strangers.size > MOST_STRANGERS) {
      strangers.delete(oldest);
      oldest.close();
    }
    for await (const { hello, worker, ask: question, about, told, value } of line.messages()) {
      if (!workers.has(line)) {
        if (!isSame(hello, secret) || worker === undefined) break;
        clearTimeout(stranger);
        strangers.delete(line);
        line.mostBytes = MOST_LINE_BYTES;
        workers.set(line, worker);
      } else if (question !== undefined) ask(line, question, about);
      else if (told !== undefined) answered(line, told, value);
    }
    clearTimeout(stranger);
    strangers.delete(line);
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
      for (const line of [...workers.keys(), ...strangers]) line.close();
    },
  };
}

function isSame(given: unknown, secret: string): boolean {
  if (typeof given !== "string") return false;
  const [a, b] = [Buffer.from(given), Buffer.from(secret)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/**
 * @param tell what this worker says to others that ask; nothing if it fails
 * @param patienceMs how long it waits for the hub, which answers within {@link PATIENCE_MS} unless its process stands still
 */
export async function joinHub(
  address: string,
  worker: number,
  tell: (about: Subject) => unknown,
  { patienceMs = 2 * PATIENCE_MS }: { patienceMs?: number } = {},
): Promise<Siblings> {
  const [port, secret] = address.split(":");
  const line = new Line(await Deno.connect({ hostname: "127.0.0.1", port: Number(port) }));
  const waiting = new Map<number, (told: WorkerAnswers) => void>();
  let asked = 0;
  let disconnected = false;
  line.send({ hello: secret, worker });
  void (async () => {
    const answer = async (ask: number, about: Subject) => {
      const value = await tell(about);
      line.send({ told: ask, value });
    };
    for await (const { ask, about = "metrics", told, value } of line.messages()) {
      if (ask !== undefined) answer(ask, about).catch(() => {});
      else if (told !== undefined) waiting.get(told)?.(value as WorkerAnswers);
    }
    disconnected = true;
    for (const resolve of waiting.values()) resolve({});
  })();
  return {
    async ask(about) {
      if (disconnected) return {};
      const id = ++asked;
      const { promise, resolve } = Promise.withResolvers<WorkerAnswers>();
      const timer = setTimeout(() => resolve({}), patienceMs);
      waiting.set(id, resolve);
      line.send({ ask: id, about });
      try {
        return await promise;
      } finally {
        clearTimeout(timer);
        waiting.delete(id);
      }
    },
    close: () => line.close(),
  };
}
