/** A gateway that keeps payloads in a folder of its own, and looks into it as an outsider would. */
import { leastAnswer } from "../support/answers.ts";
import { SECRET, type TestGateway, testGateway, type TestOptions } from "../support/gateway.ts";
import { type LoopbackProvider, loopbackProvider, type Seen } from "../support/provider.ts";
import { eventually } from "../support/time.ts";

export const ADMIN = "the-admin-key-of-tests";
export const PAYLOAD_KEY = "a key of payloads, only for tests";

export interface Keeping {
  folder: string;
  gateway: TestGateway;
  provider: LoopbackProvider;
  files(): Promise<string[]>;
  /** All bytes under the folder, as Latin-1 text. */
  bytes(): Promise<string>;
  /** What the administration answers. */
  // deno-lint-ignore no-explicit-any
  payload(id: string): Promise<{ status: number; json: any }>;
  /** Until so many payloads are in the folder. */
  kept(count: number): Promise<void>;
}

export async function keeping(
  config: Record<string, unknown>,
  test: (keeping: Keeping) => Promise<void>,
  { answer = leastAnswer, ...options }: TestOptions & {
    answer?: (seen: Seen) => Response | Promise<Response>;
  } = {},
): Promise<void> {
  const folder = await Deno.makeTempDir();
  const provider = loopbackProvider(answer);
  const gateway = await testGateway({ p: { api: "openai-chat", url: `${provider.url}/v1` } }, {
    admin_key: ADMIN,
    payloads: { to: `file:${folder}`, key: PAYLOAD_KEY },
    keys: [{ name: "test", secret: SECRET, payloads: true }],
    ...config,
  }, options);
  const files = () => filesUnder(folder);
  try {
    await test({
      folder,
      gateway,
      provider,
      files,
      bytes: () => bytesUnder(folder),
      kept: async (count) => void await eventually(async () => (await files()).length >= count),
      async payload(id) {
        const response = await fetch(`${gateway.url}/admin/generations/${id}/payload`, {
          headers: { authorization: `Bearer ${ADMIN}` },
        });
        return { status: response.status, json: await response.json() };
      },
    });
  } finally {
    await gateway.close();
    await provider.close();
    await Deno.remove(folder, { recursive: true });
  }
}

export async function filesUnder(folder: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) found.push(...await filesUnder(`${folder}/${name}`));
    else if (!name.endsWith(".part")) found.push(`${folder}/${name}`);
  }
  return found.sort();
}

export async function bytesUnder(folder: string): Promise<string> {
  const texts = await Promise.all((await filesUnder(folder)).map(async (file) => {
    const decoder = new TextDecoder("latin1");
    return file + decoder.decode(await Deno.readFile(file));
  }));
  return texts.join("\n");
}
