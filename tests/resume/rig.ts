/** A room of streams that are kept, over a store in memory. */
import { type Follower, type LiveStream, Resumption, type ResumptionOptions } from "../../src/resume/mod.ts";
import { openStore, type Store } from "../../src/store/mod.ts";

export const ASKING = { keyId: "k", format: "chat_completions", streamed: true, keepMs: 1000 };
export const HEAD = { status: 200, headers: {} };
export const event = (n: number, chars = 0) => `data: ${n}${"x".repeat(chars)}\n\n`;

export interface Rig {
  store: Store;
  resumption: Resumption;
  lost: () => number;
  clock: { now: number };
}

export async function withResumption(
  use: (rig: Rig) => Promise<void>,
  options: Partial<ResumptionOptions> = {},
  change: (store: Store) => Partial<Store> = () => ({}),
): Promise<void> {
  const opened = openStore("sqlite::memory:");
  await opened.prepare();
  await opened.registerNode("node");
  const store = { ...opened, ...change(opened) };
  const clock = { now: 0 };
  let lost = 0;
  const resumption = new Resumption({
    store,
    node: "node",
    secret: () => new Uint8Array(32),
    storeUp: () => true,
    stopping: () => false,
    now: () => clock.now,
    log: () => {},
    lost: () => lost++,
    ...options,
  });
  try {
    await use({ store, resumption, lost: () => lost, clock });
  } finally {
    await resumption.close();
    await opened.close();
  }
}

export function begin({ resumption }: Rig, id = "gen_1", keyId = "k"): LiveStream {
  const live = resumption.begin({ ...ASKING, id, keyId })!;
  live.begin(HEAD);
  return live;
}

export async function read(follower: Follower): Promise<string> {
  let text = "";
  for (let next = await follower.next(); next !== null; next = await follower.next()) text += next;
  follower.leave();
  return text;
}
