/** A gateway with an administration, asked in memory as if from another machine. */
import { assertEquals } from "@std/assert";
import { type TestGateway, testGateway } from "../support/gateway.ts";

export const ADMIN = "the-admin-key-of-a-test";

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  // deno-lint-ignore no-explicit-any
  json: any;
}

export type Ask = (
  method: string,
  path: string,
  more?: { body?: unknown; headers?: Record<string, string> },
) => Promise<
  Answer
>;

export async function withConsole(
  test: (ask: Ask, gateway: TestGateway) => Promise<void>,
  { config = {}, now = Date.now }: { config?: Record<string, unknown>; now?: () => number } = {},
): Promise<void> {
  const gateway = await testGateway({ demo: { api: "demo", url: "" } }, { admin_key: ADMIN, ...config }, {
    now,
  });
  try {
    await test(askerOf(gateway), gateway);
  } finally {
    await gateway.close();
  }
}

export const cookieOf = ({ headers }: Answer): string => headers.get("set-cookie")!.split(";")[0];

export async function signedIn(ask: Ask): Promise<{ cookie: string; csrf: string }> {
  const made = await ask("POST", "/console/session", { body: { admin_key: ADMIN } });
  assertEquals(made.status, 200);
  return { cookie: cookieOf(made), csrf: made.json.csrf };
}

/** Asks a gateway from an address of another machine. */
export function askerOf({ gateway }: TestGateway, from = "10.1.2.3"): Ask {
  return async (method, path, { body, headers = {} } = {}) => {
    const response = await gateway.handle(
      new Request(`http://gateway${path}`, {
        method,
        headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
        body: body === undefined ? null : JSON.stringify(body),
      }),
      { remoteAddr: { transport: "tcp", hostname: from, port: 1 } },
    );
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json") && text !== "";
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: isJson ? JSON.parse(text) : null,
    };
  };
}

/** A day from now. */
export const tomorrow = () => new Date(Date.now() + 86_400_000).toISOString();
