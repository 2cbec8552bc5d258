/** On which connections requests over HTTP/2 go. */
import { assertEquals } from "@std/assert";
import { CODE } from "../../../src/outgoing/http2/connection_error.ts";
import { SETTING, settings } from "../../../src/outgoing/http2/frames.ts";
import { eventually, stoppedTicker } from "../../support/time.ts";
import { outcomeOf, rawServer, reset, whole } from "./raw_server.ts";

const { ticker } = stoppedTicker();

/** A server without HTTP/1.1 that takes so many requests at a time on a connection, and what it was asked. */
function strictServer(most: number) {
  const seen = { refused: 0, answer: Promise.withResolvers<void>() };
  const server = rawServer(async (connection) => {
    await connection.preface();
    await connection.write(settings([[SETTING.maxConcurrentStreams, most]]));
    let open = 0;
    for (let next = await connection.request(); next !== null; next = await connection.request()) {
      const { id } = next;
      if (open >= most) {
        seen.refused++;
        await connection.write(reset(id, CODE.refusedStream));
        continue;
      }
      open++;
      void seen.answer.promise.then(() => {
        open--;
        return connection.write(...whole(id, "ok"));
      });
    }
  });
  return { server, seen };
}

Deno.test("a server's places are counted: of requests that come together, none goes where there is none", async () => {
  const { server, seen } = strictServer(2);
  try {
    seen.answer.resolve();
    assertEquals(await outcomeOf(server.url, ticker), "200 ok");
    seen.answer = Promise.withResolvers();
    const all = Promise.all(Array.from({ length: 60 }, () => outcomeOf(server.url, ticker)));
    await eventually(() => server.connections.length === 30);
    seen.answer.resolve();
    assertEquals([new Set(await all), seen.refused], [new Set(["200 ok"]), 0]);
  } finally {
    await server.close();
  }
});

Deno.test("a rush to a server of whose few places nothing is known comes to answers", async () => {
  const { server, seen } = strictServer(1);
  try {
    const all = Promise.all(Array.from({ length: 90 }, () => outcomeOf(server.url, ticker)));
    all.then(() => seen.answer.resolve());
    await eventually(() => server.connections.length >= 90);
    seen.answer.resolve();
    assertEquals(new Set(await all), new Set(["200 ok"]));
  } finally {
    await server.close();
  }
});
