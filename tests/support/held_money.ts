/** A gateway that tells, of each call, what its account held for it when it ended, and what it was billed. */
import { type TestGateway, testGateway, type TestProvider } from "./gateway.ts";
import { loopbackProvider, type Seen } from "./provider.ts";

export interface Billed {
  /** Dollars. */
  held: number;
  cost: number;
  status: number;
  /** Of the refusal. */
  code: string | null;
}

export interface HeldMoney {
  ask(path: string, body: Record<string, unknown>, init?: RequestInit): Promise<Billed>;
  gateway: TestGateway;
  close(): Promise<void>;
}

// deno-lint-ignore no-explicit-any
type Reserved = any;

/** @param answer of the provider that all providers are, to its nth request */
export async function heldMoney(
  answer: (seen: Seen, nth: number) => Response,
  providers: Record<string, Omit<TestProvider, "url">>,
  config: Record<string, unknown> = {},
): Promise<HeldMoney> {
  const provider = loopbackProvider(answer);
  const engine = loopbackProvider(() =>
    Response.json({ results: [{ url: "https://a.test", title: "A", content: "found ".repeat(50) }] })
  );
  const gateway = await testGateway(
    Object.fromEntries(
      Object.entries(providers).map(([name, one]) => [name, { url: `${provider.url}/v1`, ...one }]),
    ),
    {
      accounts: [{ name: "default", credits: "1000" }],
      search: { engine: "searxng", base_url: engine.url, price: "0.005" },
      ...config,
    },
  );
  const { accounts } = gateway.gateway;
  const { admit } = accounts;
  let reservation: Reserved = null;
  let held = 0n;
  accounts.admit = async (request) => {
    reservation = await admit(request);
    const { settle } = Object.getPrototypeOf(reservation);
    reservation.settle = (...end: unknown[]) => {
      held = reservation.holds.find((hold: Reserved) => hold.lease.kind === "credits").amount;
      return settle.apply(reservation, end);
    };
    return reservation;
  };
  return {
    gateway,
    async ask(path, body, init) {
      held = 0n;
      const response = await gateway.post(path, body, init);
      const text = await response.text();
      await accounts.flush();
      const id = response.headers.get("x-request-id");
      const [record] = (await accounts.generations({ limit: 1 })).data;
      const code = response.ok ? null : JSON.parse(text).error?.code ?? text;
      return {
        held: Number(held) / 1e12,
        cost: record?.id === id ? Number(record.cost) : 0,
        status: response.status,
        code,
      };
    },
    async close() {
      await gateway.close();
      await provider.close();
      await engine.close();
    },
  };
}
