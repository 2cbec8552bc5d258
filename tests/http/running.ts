/** A gateway with two providers that give the least answer, and requests to it. */
import { leastAnswer } from "../support/answers.ts";
import { SECRET, type TestGateway, testGateway, type TestProvider } from "../support/gateway.ts";
import { type LoopbackProvider, loopbackProvider } from "../support/provider.ts";

export async function running(
  config: Record<string, unknown>,
  test: (gateway: TestGateway, provider: LoopbackProvider) => Promise<void>,
  model: TestProvider["model"] = {},
): Promise<void> {
  const provider = loopbackProvider(leastAnswer);
  const url = `${provider.url}/v1`;
  const gateway = await testGateway({
    p: { api: "openai-chat", url, model },
    q: { api: "anthropic-messages", url },
  }, config);
  try {
    await test(gateway, provider);
  } finally {
    await gateway.close();
    await provider.close();
  }
}

export const AUTH = { authorization: `Bearer ${SECRET}` };
export const HI = [{ role: "user", content: "hi" }];

/** Status, code and body of a request. */
export async function ask(gateway: TestGateway, method: string, path: string, init: RequestInit = {}) {
  const response = await fetch(gateway.url + path, { method, headers: AUTH, ...init });
  const text = await response.text();
  let body = null;
  try {
    body = JSON.parse(text);
  } catch {
    // Not every answer is JSON.
  }
  return { status: response.status, headers: response.headers, text, body, code: body?.error?.code };
}
