/**
 * A pooler in front of a PostgreSQL, as PgBouncer is one: it lets clients in by itself, refuses parameters of the start that it does
 * not know, and tells backend numbers of its own making.
 *
 * In session mode a client keeps its server's connection; in transaction mode it has one until its transaction is over.
 */
import { Buffer } from "node:buffer";

export interface Pooler {
  url: string;
  close(): Promise<void>;
}

/** What PgBouncer 1.18 takes and passes on, or has its own answer for. */
const KNOWN = [
  "user",
  "database",
  "client_encoding",
  "datestyle",
  "timezone",
  "standard_conforming_strings",
  "application_name",
];
/** Messages that the server answers with a "Z". */
const ASKING = ["Q", "S"];

export function openPooler(url: string, mode: "session" | "transaction"): Pooler {
  const { hostname, port } = new URL(url);
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const open = new Set<Deno.Conn>();
  const idle: Deno.Conn[] = [];
  let clients = 0;

  async function serverOf(parameters: string[]): Promise<Deno.Conn> {
    const conn = await Deno.connect({ hostname, port: Number(port) });
    open.add(conn);
    const text = [...parameters, ""].join("\0") + "\0";
    const head = Buffer.alloc(8);
    head.writeUInt32BE(8 + text.length);
    head.writeUInt32BE(196608, 4);
    await write(conn, Buffer.concat([head, Buffer.from(text)]));
    for await (const message of messagesOf(conn)) if (letter(message) === "Z") break;
    return conn;
  }

  async function serve(client: Deno.Conn): Promise<void> {
    let held: Deno.Conn | null = null;
    open.add(client);
    const first = await read(client);
    const told = first.subarray(8).toString().split("\0").filter((part) => part !== "");
    const unknown = told.find((name, i) => i % 2 === 0 && !KNOWN.includes(name));
    if (unknown !== undefined) {
      await write(client, error(`unsupported startup parameter: ${unknown}`));
      return client.close();
    }
    const key = Buffer.alloc(8);
    key.writeUInt32BE(1_000_000 + ++clients);
    await write(
      client,
      Buffer.concat([made("R", Buffer.alloc(4)), made("K", key), made("Z", Buffer.from("I"))]),
    );
    const parameters = told.slice(0, 4);
    if (mode === "session") {
      const server = await serverOf(parameters);
      // What the server says by itself comes through as well: that others have notified.
      await Promise.race([passOn(client, server), passOn(server, client)]);
      return server.close();
    }
    for await (const asked of batchesOf(client)) {
      held ??= idle.pop() ?? await serverOf(parameters);
      await write(held, asked.bytes);
      if (!await answer(held, client, asked.answers)) continue;
      idle.push(held);
      held = null;
    }
  }

  const serving = (async () => {
    for await (const client of listener) {
      void serve(client).catch(() => {}).finally(() => closeQuietly(client));
    }
  })();
  const address = new URL(url);
  address.port = `${listener.addr.port}`;
  return {
    url: address.href,
    async close() {
      listener.close();
      await serving;
      for (const conn of open) closeQuietly(conn);
    },
  };
}

async function passOn(from: Deno.Conn, to: Deno.Conn): Promise<void> {
  for (let bytes = await read(from); bytes.length > 0; bytes = await read(from)) await write(to, bytes);
}

/** Passes on so many answers. True: no transaction is open then. */
async function answer(server: Deno.Conn, client: Deno.Conn, count: number): Promise<boolean> {
  let left = count;
  for await (const message of messagesOf(server)) {
    await write(client, message);
    if (letter(message) === "Z" && --left === 0) return message.subarray(5).toString() === "I";
  }
  throw new Error("The server has gone.");
}

/** What a client says at once, up to a point where it waits for answers, and how many. */
async function* batchesOf(client: Deno.Conn): AsyncGenerator<{ bytes: Buffer; answers: number }> {
  let rest = Buffer.alloc(0);
  for (;;) {
    const bytes = await read(client);
    if (bytes.length === 0) return;
    rest = Buffer.concat([rest, bytes]);
    const asked: Buffer[] = [];
    while (rest.length >= 5 && rest.length > rest.readUInt32BE(1)) {
      const length = 1 + rest.readUInt32BE(1);
      asked.push(rest.subarray(0, length));
      rest = rest.subarray(length);
    }
    if (asked.some((message) => letter(message) === "X")) return;
    const answers = asked.filter((message) => ASKING.includes(letter(message))).length;
    if (answers > 0) yield { bytes: Buffer.concat(asked), answers };
    else rest = Buffer.concat([...asked, rest]);
  }
}

async function* messagesOf(conn: Deno.Conn): AsyncGenerator<Buffer> {
  let rest = Buffer.alloc(0);
  for (;;) {
    while (rest.length >= 5 && rest.length > rest.readUInt32BE(1)) {
      const length = 1 + rest.readUInt32BE(1);
      yield rest.subarray(0, length);
      rest = rest.subarray(length);
    }
    const bytes = await read(conn);
    if (bytes.length === 0) return;
    rest = Buffer.concat([rest, bytes]);
  }
}

const letter = (message: Buffer): string => String.fromCharCode(message[0]);

function made(kind: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(kind);
  head.writeUInt32BE(4 + body.length, 1);
  return Buffer.concat([head, body]);
}

/** As PgBouncer words one. */
function error(text: string): Buffer {
  return made("E", Buffer.from(`SFATAL\0C08P01\0M${text}\0\0`));
}

async function read(conn: Deno.Conn): Promise<Buffer> {
  const bytes = new Uint8Array(1 << 16);
  const count = await conn.read(bytes);
  return Buffer.from(bytes.subarray(0, count ?? 0));
}

async function write(conn: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await conn.write(bytes.subarray(at));
}

function closeQuietly(conn: Deno.Conn): void {
  try {
    conn.close();
  } catch {
    // It is closed.
  }
}
