/** The services of a cloud on loopback, and a machine whose environment and files point there. */
import type { Surroundings } from "../../../src/providers/credentials/surroundings.ts";
import { StoppedClock } from "../../support/time.ts";

export interface Seen {
  method: string;
  /** With the query. */
  path: string;
  headers: Headers;
  body: string;
}

export interface Cloud extends AsyncDisposable {
  /** `http://127.0.0.1:PORT` */
  origin: string;
  seen: Seen[];
}

/** @param answer by the path without its query; what is no Response becomes JSON */
export function cloud(
  answer: (seen: Seen, path: string) => Response | object | string | Promise<Response | object | string>,
): Cloud {
  const seen: Seen[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const { pathname, search } = new URL(request.url);
    const one = {
      method: request.method,
      path: pathname + search,
      headers: request.headers,
      body: await request.text(),
    };
    seen.push(one);
    const given = await answer(one, pathname);
    if (given instanceof Response) return given;
    // The time of the stopped clock, where the test does not say another.
    const headers = { date: new Date(NOW).toUTCString() };
    return typeof given === "string" ? new Response(given, { headers }) : Response.json(given, { headers });
  });
  return {
    origin: `http://127.0.0.1:${(server.addr as Deno.NetAddr).port}`,
    seen,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

export interface Machine extends Surroundings {
  clock: StoppedClock;
  files: Map<string, string>;
  lines: string[];
}

/** 21 November 2026. */
export const NOW = Date.UTC(2026, 10, 21, 12);

/** Its clock stands still, and pauses end at once. */
export function machine(env: Record<string, string>, files: Record<string, string> = {}): Machine {
  const clock = new StoppedClock(NOW);
  const kept = new Map(Object.entries(files));
  const lines: string[] = [];
  return {
    clock,
    files: kept,
    lines,
    env: (name) => env[name],
    readText(path) {
      const text = kept.get(path);
      return text === undefined ? Promise.reject(new Deno.errors.NotFound(path)) : Promise.resolve(text);
    },
    now: clock.now,
    sleep: () => Promise.resolve(),
    log: (line) => lines.push(line),
  };
}

/** `2026-11-21T13:00:00Z` for an hour. */
export function isoAfter(ms: number): string {
  return new Date(NOW + ms).toISOString();
}
