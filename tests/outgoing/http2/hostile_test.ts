/** What a server does to a connection over HTTP/2, against the own client and `fetch`, and that the next call is answered after it. */
import { assert, assertEquals } from "@std/assert";
import { sendByFetch } from "../../../src/outgoing/fetch_reply.ts";
import type { Exchange } from "../../../src/outgoing/reply.ts";
import { Ticker } from "../../../src/timing/ticker.ts";
import { CA } from "../../support/tls.ts";
import { CASES, SILENT } from "./hostile_cases.ts";
import { begin, outcomeOf, type RawConnection, rawServer, whole } from "./raw_server.ts";

for (const client of ["the own client", "fetch"]) {
  for (const [name, { written, comesTo, byFetch, ends }] of Object.entries(CASES)) {
    const expected = client === "fetch" ? byFetch ?? comesTo : comesTo;
    Deno.test(`over HTTP/2 with ${client}, ${name}, comes to ${expected.slice(0, 20)}, and the next call is answered`, async () => {
      let met = false;
      const server = rawServer(async (connection) => {
        assert(await connection.preface());
        for (let next = await connection.request(); next !== null; next = await connection.request()) {
          if (met) await answer(connection, next.id);
          else {
            met = true;
            await connection.write(...written);
            if (ends) return;
          }
        }
      });
      const ticker = new Ticker();
      using fetchClient = Deno.createHttpClient({ caCerts: [CA] });
      const send = client === "fetch"
        ? (exchange: Exchange) => sendByFetch(exchange, ticker, { client: fetchClient })
        : undefined;
      const limitMs = expected === SILENT ? 400 : 60_000;
      try {
        const came = await outcomeOf(server.url, ticker, { firstByteMs: limitMs, idleMs: limitMs }, send);
        assert(came === expected, `${came.slice(0, 100)}, not ${expected.slice(0, 100)}`);
        assertEquals(await outcomeOf(server.url, ticker, {}, send), "200 good");
      } finally {
        await server.close();
      }
    });
  }
}

const settled = new WeakSet<RawConnection>();

async function answer(connection: RawConnection, id: number): Promise<void> {
  // Settings may come again at any time.
  if (!settled.has(connection)) await connection.write(begin);
  settled.add(connection);
  await connection.write(...whole(id, "good"));
}
