/**
 * Messages between workers that share a port, through the process that started them, so that each worker can
 * answer for all.
 *
 * The messages are lines of JSON over loopback, since a worker's standard output is its log. The hub
 * recognizes its workers by a secret that it passes to them.
 */
import { Buffer } from "node:buffer";
import { timingSafeEqual } from "node:crypto";

/** A worker that has not answered within this time is left out. */
const PATIENCE_MS = 1000;
const HELLO_MS = 5000;
/** The most bytes that a connection may send before it has presented the secret: that message has two short fields. */
const MOST_HELLO_BYTES = 256;
/** The longest message of a worker. Its metrics have some hundred bytes each. */
const MOST_LINE_BYTES = 64 << 20;
/**
 * The most connections that have not presented the secret. Above this number the oldest is closed: a worker
 * presents it immediately.
 */
const MOST_UNAUTHENTICATED = 64;
const LINE_FEED = 10;

/** Answers by the number of the worker. */
export type WorkerAnswers = Readonly<Record<string, unknown>>;

/**
 * What a worker asks of the others: to send their metrics, or to load a change that was just written to the
 * store. In the second case the answer says that they have loaded it.
 */
export type Subject = "metrics" | "changes";

export interface Siblings {
  /** The answers of the other workers, without those that do not answer in time. */
  ask(about: Subject): Promise<WorkerAnswers>;
  close(): void;
}

interface Message {
  hello?: string;
  worker?: number;
  /** Id of a request: from a worker, for the answers of all others; from the hub, for the worker's own answer. */
  ask?: number;
  about?: Subject;
  /** Id of the request that `value` answers. */
  answerTo?: number;
  value?: unknown;
}

/** One end of a connection. Messages that cannot be sent are lost. */
class Line {
  /** A longer line closes the connection. */
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
      // The connection was lost, or its data is no valid message.
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
      // The connection is closed.
    }
  }
}

export interface Hub {
  /** Port and secret, for {@link joinHub}. */
  address: string;
  close(): void;
}

interface Question {
  waiting: Set<Line>;
  answers: Record<string, unknown>;
  done(): void;
}

/**
 * Passes requests and answers between workers.
 * @param helloMs milliseconds within which a new connection must present the secret
 * @param patienceMs milliseconds within which a worker must answer
 */
export function openHub(helloMs = HELLO_MS, patienceMs = PATIENCE_MS): Hub {
  const secret = crypto.randomUUID();
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const workers = new Map<Line, number>();
  /** Connections that have not presented the secret yet, the oldest first. */
  const unauthenticated = new Set<Line>();
  const questions = new Map<number, Question>();
  let asked = 0;

  function ask(from: Line, id: number, about?: Subject): void {
    const question = ++asked;
    const others = [...workers.keys()].filter((line) => line !== from);
    const answers: Record<string, unknown> = {};
    const done = () => {
      clearTimeout(timer);
      if (questions.delete(question)) from.send({ answerTo: id, value: answers });
    };
    const timer = setTimeout(done, patienceMs);
    questions.set(question, { waiting: new Set(others), answers, done });
    for (const line of others) line.send({ ask: question, about });
    if (others.length === 0) done();
  }

  function answered(from: Line, id: number, value: unknown): void {
    const question = questions.get(id);
    if (!question?.waiting.delete(from)) return;
    question.answers[workers.get(from)!] = value;
    if (question.waiting.size === 0) question.done();
  }

  async function serve(connection: Deno.Conn): Promise<void> {
    const line = new Line(connection);
    line.mostBytes = MOST_HELLO_BYTES;
    const helloTimer = setTimeout(() => line.close(), helloMs);
    unauthenticated.add(line);
    const [oldest] = unauthenticated;
    if (unauthenticated.size > MOST_UNAUTHENTICATED) {
      unauthenticated.delete(oldest);
      oldest.close();
    }
    for await (const { hello, worker, ask: question, about, answerTo, value } of line.messages()) {
      if (!workers.has(line)) {
        if (!isSame(hello, secret) || worker === undefined) break;
        clearTimeout(helloTimer);
        unauthenticated.delete(line);
        line.mostBytes = MOST_LINE_BYTES;
        workers.set(line, worker);
      } else if (question !== undefined) ask(line, question, about);
      else if (answerTo !== undefined) answered(line, answerTo, value);
    }
    clearTimeout(helloTimer);
    unauthenticated.delete(line);
    workers.delete(line);
    for (const { waiting, done } of [...questions.values()]) {
      if (waiting.delete(line) && waiting.size === 0) done();
    }
    line.close();
  }

  void (async () => {
    for await (const connection of listener) void serve(connection);
  })().catch(() => {});
  return {
    address: `${listener.addr.port}:${secret}`,
    close() {
      listener.close();
      for (const line of [...workers.keys(), ...unauthenticated]) line.close();
    },
  };
}

function isSame(given: unknown, secret: string): boolean {
  if (typeof given !== "string") return false;
  const [a, b] = [Buffer.from(given), Buffer.from(secret)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/**
 * @param valueOf gives this worker's answer to requests of others; if it fails, no answer is sent
 * @param patienceMs how long it waits for the hub, which answers within {@link PATIENCE_MS} unless its process stands still
 */
export async function joinHub(
  address: string,
  worker: number,
  valueOf: (about: Subject) => unknown,
  { patienceMs = 2 * PATIENCE_MS }: { patienceMs?: number } = {},
): Promise<Siblings> {
  const [port, secret] = address.split(":");
  const line = new Line(await Deno.connect({ hostname: "127.0.0.1", port: Number(port) }));
  const waiting = new Map<number, (answers: WorkerAnswers) => void>();
  let asked = 0;
  let disconnected = false;
  line.send({ hello: secret, worker });
  void (async () => {
    const answer = async (ask: number, about: Subject) => {
      const value = await valueOf(about);
      line.send({ answerTo: ask, value });
    };
    for await (const { ask, about = "metrics", answerTo, value } of line.messages()) {
      if (ask !== undefined) answer(ask, about).catch(() => {});
      else if (answerTo !== undefined) waiting.get(answerTo)?.(value as WorkerAnswers);
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
