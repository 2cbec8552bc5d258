/** Which requests over HTTP/2 are asked again: those alone that the server cannot have begun to work on. */
import { assertEquals } from "@std/assert";
import { CODE } from "../../../src/outgoing/http2/connection_error.ts";
import { FRAME, frame, numberFrame, SETTING, settings } from "../../../src/outgoing/http2/frames.ts";
import type { Ticker } from "../../../src/timing/ticker.ts";
import { addressOf } from "../../../src/outgoing/address.ts";
import { eventually, stoppedTicker } from "../../support/time.ts";
import { begin, data, outcomeOf, type RawConnection, rawServer, reset, whole } from "./raw_server.ts";

const { ticker } = stoppedTicker();
const LOST = "provider_unavailable";

/**
 * How often a server is asked, and what the requests come to.
 * @param wait how many requests come before it does something to their connection, after it has answered one where `rested`
 */
async function askedOf(
  { wait = 1, rested = true }: { wait?: number; rested?: boolean },
  act: (connection: RawConnection, ids: number[]) => Promise<"ends" | "stays">,
): Promise<{ asked: number; outcomes: string[] }> {
  let asked = 0;
  const server = rawServer(async (connection, number) => {
    await connection.preface();
    await connection.write(begin);
    if (number === 1 && rested) await connection.write(...whole((await connection.request())!.id, "first"));
    const ids: number[] = [];
    for (let next = await connection.request(); next !== null; next = await connection.request()) {
      asked++;
      ids.push(next.id);
      if (number > 1 || ids.length > wait) await connection.write(...whole(next.id, "again"));
      else if (ids.length === wait && await act(connection, ids) === "ends") return;
    }
  });
  try {
    if (rested) await outcomeOf(server.url, ticker);
    const outcomes = await Promise.all(Array.from({ length: wait }, () => outcomeOf(server.url, ticker)));
    return { asked, outcomes };
  } finally {
    await server.close();
  }
}

const goodbye = (last: number, code: number) =>
  frame(FRAME.goaway, 0, 0, Uint8Array.from([0, 0, 0, last, 0, 0, 0, code]));

Deno.test("a request whose stream the server has ended is not asked again: it may have been worked on", async () => {
  for (const code of [CODE.noError, CODE.protocolError, 2, CODE.cancel, CODE.enhanceYourCalm]) {
    const seen = await askedOf({}, async (connection, [id]) => {
      await connection.write(reset(id, code));
      return "stays";
    });
    assertEquals(seen, { asked: 1, outcomes: [LOST] }, `code ${code}`);
  }
});

Deno.test("a request that a goodbye counts is not asked again when the connection ends behind it", async () => {
  const seen = await askedOf({ wait: 2 }, async (connection) => {
    await connection.write(goodbye(3, 2));
    return "ends";
  });
  assertEquals(seen, { asked: 3, outcomes: [LOST, "200 again"] });
});

Deno.test("requests on a connection that has answered none are not asked again when it ends", async () => {
  const seen = await askedOf({ wait: 3, rested: false }, () => Promise.resolve("ends"));
  assertEquals(seen, { asked: 3, outcomes: [LOST, LOST, LOST] });
});

Deno.test("requests that meet the end of a connection that rested are asked anew, all of them", async () => {
  const seen = await askedOf({ wait: 3 }, () => Promise.resolve("ends"));
  assertEquals(seen, { asked: 6, outcomes: ["200 again", "200 again", "200 again"] });
});

Deno.test("a request that the server has taken some of is not asked again", async () => {
  const seen = await askedOf({}, async (connection, [id]) => {
    await connection.write(numberFrame(FRAME.windowUpdate, id, 10));
    return "ends";
  });
  assertEquals(seen, { asked: 1, outcomes: [LOST] });
});

Deno.test("a request is not asked again for a mistake of the server, which is there", async () => {
  for (const mistake of [data(2, "x"), data(3, "body before its head")]) {
    const seen = await askedOf({}, async (connection) => {
      await connection.write(mistake);
      return "stays";
    });
    assertEquals(seen, { asked: 1, outcomes: [LOST] });
  }
});

/** A server whose first connections each answer one request, all at the same time, and end at the next one. */
async function withStaleConnections(
  protocols: string[],
  use: (url: string, ticker: Ticker, seen: { asked: number }) => Promise<void>,
): Promise<void> {
  const { ticker, pass } = stoppedTicker();
  const seen = { asked: 0 };
  const all = Promise.withResolvers<void>();
  const server = rawServer(async (connection, number) => {
    await connection.preface();
    await connection.write(settings([[SETTING.maxConcurrentStreams, 1]]));
    for (let next = await connection.request(); next !== null; next = await connection.request()) {
      if (++seen.asked === STALE) all.resolve();
      if (number <= STALE && next.id > 1) return;
      await all.promise;
      await connection.write(...whole(next.id, number <= STALE ? "first" : "anew"));
    }
  }, protocols);
  try {
    const first: Promise<string>[] = [];
    for (let i = 1; i <= STALE; i++) {
      first.push(outcomeOf(server.url, ticker));
      await eventually(() => seen.asked === i && addressOf(server.url).http2.mostStreams === 1);
    }
    assertEquals(await Promise.all(first), Array(STALE).fill("200 first"));
    assertEquals(addressOf(server.url).http2.size, STALE);
    pass(20_000);
    await use(server.url, ticker, seen);
  } finally {
    await server.close();
  }
}

const STALE = 4;

Deno.test("a request that meets the end of a connection that rested goes to a new one, however many others rest", async () => {
  for (const protocols of [["h2"], ["h2", "http/1.1"]]) {
    await withStaleConnections(protocols, async (url, ticker, seen) => {
      assertEquals(await outcomeOf(url, ticker), "200 anew");
      assertEquals(seen.asked, STALE + 2);
    });
  }
});

Deno.test("a request that a server with HTTP/2 alone refuses is asked three times in all", async () => {
  for (const refusals of [2, 3]) {
    let asked = -1;
    const server = rawServer(async (connection) => {
      await connection.preface();
      await connection.write(begin);
      for (let next = await connection.request(); next !== null; next = await connection.request()) {
        asked++;
        if (asked > 0 && asked <= refusals) await connection.write(goodbye(0, 0));
        else await connection.write(...whole(next.id, "taken"));
      }
    });
    try {
      // This one finds out that there is no HTTP/1.1.
      assertEquals(await outcomeOf(server.url, ticker, { stream: false }), "200 taken");
      assertEquals([await outcomeOf(server.url, ticker), asked], [refusals === 2 ? "200 taken" : LOST, 3]);
    } finally {
      await server.close();
    }
  }
});
