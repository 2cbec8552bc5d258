/** Gateways whose providers are asked for their models, and the models that a caller then sees. */
import { assertEquals } from "@std/assert";
import { SECRET, type TestGateway, testGateway } from "../support/gateway.ts";

export async function ids(gateway: TestGateway, secret = SECRET): Promise<string[]> {
  const response = await fetch(`${gateway.url}/v1/models`, {
    headers: { authorization: `Bearer ${secret}` },
  });
  const { data, first_id, last_id } = await response.json();
  assertEquals([first_id, last_id], [data.at(0)?.id ?? null, data.at(-1)?.id ?? null]);
  return data.map(({ id }: { id: string }) => id);
}

export async function withGateway(
  config: Record<string, unknown>,
  test: (gateway: TestGateway) => Promise<void>,
): Promise<void> {
  const gateway = await testGateway({}, { models: undefined, ...config }, { discovers: true });
  try {
    await test(gateway);
  } finally {
    await gateway.close();
  }
}
