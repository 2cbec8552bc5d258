/** Crowds of connections and callers that want nothing good. Each is bounded, and gone when its function has ended. */
import { SECRETS } from "./gateway.ts";

export interface CrowdOptions {
  url: string;
  count: number;
  /** Called once all are there; they go when it has ended. */
  meanwhile(): Promise<void>;
}

type Crowd = (options: CrowdOptions) => Promise<void>;

const encoder = new TextEncoder();

function connect(url: string): Promise<Deno.TcpConn> {
  const { hostname, port } = new URL(url);
  return Deno.connect({ hostname, port: Number(port) });
}

async function connected(url: string, count: number): Promise<Deno.TcpConn[]> {
  const all = await Promise.allSettled(Array.from({ length: count }, () => connect(url)));
  return all.filter((one) => one.status === "fulfilled").map((one) => one.value);
}

function close(conn: Deno.Conn): void {
  try {
    conn.close();
  } catch {
    // It was closed by the other side.
  }
}

const head = (more: string) =>
  encoder.encode(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${SECRETS.hostile}\r\n${more}`,
  );

/** Connections that say this much, and nothing more. */
const silent = (say: Uint8Array | null): Crowd => async ({ url, count, meanwhile }) => {
  const connections = await connected(url, count);
  if (say !== null) await Promise.allSettled(connections.map((conn) => conn.write(say)));
  await meanwhile();
  connections.forEach(close);
};

/** Bodies that come byte by byte. */
const slow: Crowd = async ({ url, count, meanwhile }) => {
  const connections = await connected(url, count);
  await Promise.allSettled(connections.map((conn) => conn.write(head("content-length: 1000000\r\n\r\n{"))));
  const timer = setInterval(() => {
    for (const conn of connections) conn.write(encoder.encode(" ")).catch(() => {});
  }, 20);
  await meanwhile();
  clearInterval(timer);
  connections.forEach(close);
};

/** Long answers that nobody reads. They need no key. */
const unread: Crowd = silent(encoder.encode("GET /openapi.json HTTP/1.1\r\nhost: x\r\n\r\n".repeat(50)));

const ENDLESS = JSON.stringify({
  model: "large/a_stream_without_an_end",
  stream: true,
  messages: [{ role: "user", content: "Hi" }],
});

/** Streams of one key that go on, and are read. */
const streams: Crowd = async ({ url, count, meanwhile }) => {
  const connections = await connected(url, count);
  const ask = encoder.encode(ENDLESS);
  const buffer = new Uint8Array(1 << 16);
  const begun = connections.map(async (conn) => {
    await conn.write(head(`content-length: ${ask.length}\r\n\r\n`));
    await conn.write(ask);
    await conn.read(buffer);
  });
  await Promise.allSettled(begun);
  const reading = connections.map(async (conn) => {
    while (await conn.read(buffer) !== null);
  });
  const read = Promise.allSettled(reading);
  await meanwhile();
  connections.forEach(close);
  await read;
};

/** Streams that are asked for and left. */
const abandoned: Crowd = async ({ url, count, meanwhile }) => {
  let left = count;
  const one = async () => {
    while (left-- > 0) {
      const leave = new AbortController();
      const response = await fetch(`${url}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${SECRETS.hostile}`, "content-type": "application/json" },
        body: ENDLESS,
        signal: leave.signal,
      }).catch(() => null);
      await response?.body?.getReader().read().catch(() => {});
      leave.abort();
    }
  };
  await Promise.all([...Array.from({ length: 20 }, one), meanwhile()]);
};

/** Keys that nobody has, each another. */
const garbage: Crowd = async ({ url, count, meanwhile }) => {
  let left = count;
  const one = async () => {
    while (left-- > 0) {
      const response = await fetch(`${url}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer sk_live_${crypto.randomUUID()}` },
        body: "{}",
      }).catch(() => null);
      await response?.body?.cancel();
    }
  };
  await Promise.all([...Array.from({ length: 20 }, one), meanwhile()]);
};

export const CROWDS: Readonly<Record<string, { crowd: Crowd; count: number }>> = {
  "idle connections": { crowd: silent(null), count: 1000 },
  "unfinished heads": { crowd: silent(head("x-more: ")), count: 200 },
  "bodies that do not come": { crowd: silent(head("content-length: 1000\r\n\r\n{")), count: 200 },
  "slow senders": { crowd: slow, count: 50 },
  "unread answers": { crowd: unread, count: 200 },
  "streams of one key": { crowd: streams, count: 200 },
  "abandoned streams": { crowd: abandoned, count: 1000 },
  "garbage keys": { crowd: garbage, count: 1000 },
};
