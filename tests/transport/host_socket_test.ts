/** WebSockets that the host provides, which cannot pause a client: what waits for them, and for it, is bounded. */
import { assert, assertEquals } from "@std/assert";
import { HostSocket } from "../../src/transport/host_socket.ts";
import type { SocketUser } from "../../src/transport/websocket/socket.ts";
import { eventually, heldTimers, nextTurn } from "../support/time.ts";

/** What the gateway uses of a WebSocket; the test is its host and its client. */
class HostedSocket {
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: (() => void) | null = null;
  readyState: number = WebSocket.OPEN;
  bufferedAmount = 0;
  readonly sent: string[] = [];
  closed: [number, string] | null = null;

  send(text: string): void {
    this.sent.push(text);
  }

  close(code: number, reason: string): void {
    this.closed = [code, reason];
    this.readyState = WebSocket.CLOSED;
    this.onclose?.();
  }
}

function opened(user: Partial<SocketUser> = {}) {
  const hosted = new HostedSocket();
  const socket = new HostSocket(hosted as unknown as WebSocket, {
    mostMessageBytes: 100,
    pingMs: 60_000,
    take: () => Promise.resolve(),
    ...user,
  });
  return { hosted, socket, say: (data: unknown) => hosted.onmessage!({ data }) };
}

Deno.test("HostSocket closes for a client that sends many messages while one is handled", async () => {
  const handled = Promise.withResolvers<void>();
  const taken: string[] = [];
  const { hosted, say } = opened({
    take(text) {
      taken.push(text);
      return handled.promise;
    },
  });
  // One is handled, and sixteen wait.
  for (let i = 0; i < 17; i++) say(`${i}`);
  assertEquals(hosted.closed, null);
  say("17");
  assertEquals(hosted.closed?.[0], 1013);
  handled.resolve();
  await nextTurn();
  assertEquals(taken, ["0"]);
});

Deno.test("HostSocket closes for what is too large, for bytes, and where there is no room for messages", () => {
  const cases: [said: unknown, user: Partial<SocketUser>, code: number][] = [
    ["ä".repeat(51), {}, 1009],
    [new ArrayBuffer(1), {}, 1003],
    ["a", { hold: (bytes) => bytes === 0 }, 1013],
  ];
  for (const [said, user, code] of cases) {
    const { hosted, say } = opened(user);
    say(said);
    assertEquals(hosted.closed?.[0], code, String(said));
  }
  const { hosted, say } = opened();
  say("ä".repeat(50));
  assertEquals(hosted.closed, null);
});

Deno.test("HostSocket.send() waits while a client takes nothing of a megabyte, and fails if it leaves", async () => {
  const { hosted, socket } = opened();
  hosted.bufferedAmount = (1 << 20) + 1;
  let failed = false;
  const sending = socket.send(["a", "b"]).catch(() => failed = true);
  await nextTurn();
  assertEquals(hosted.sent, []);
  hosted.bufferedAmount = 1 << 20;
  await eventually(() => hosted.sent.length > 0);
  await sending;
  assertEquals([hosted.sent, failed], [["a", "b"], false]);
  hosted.bufferedAmount = 2 << 20;
  const last = socket.send(["c"]).catch(() => failed = true);
  await nextTurn();
  hosted.close(1001, "");
  await last;
  assert(failed && !hosted.sent.includes("c"));
});

Deno.test("HostSocket waits for the end of the connection, and for two seconds where the client does not confirm it", async () => {
  const { hosted, socket } = opened();
  await socket.close(1001, "the server stops");
  await socket.whenClosed;
  assertEquals(hosted.closed, [1001, "the server stops"]);
  using timers = heldTimers(2000);
  const silent = opened();
  silent.hosted.onclose = null;
  let ended = false;
  const closing = silent.socket.close(1001, "the server stops").then(() => ended = true);
  await nextTurn();
  assertEquals([ended, timers.held.length], [false, 1]);
  timers.held[0].run();
  await closing;
});
