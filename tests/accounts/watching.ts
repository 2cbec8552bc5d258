/** A live view by itself, calls that it is told of, and a reader of its events. */
import { Live, type LiveOptions, type WatchOptions } from "../../src/accounts/live/live.ts";
import type { OtherProcesses } from "../../src/accounts/live/live_elsewhere.ts";
import { type Beginning, interruptedGeneration } from "../../src/accounts/ledger.ts";

export const beginning = (id: string, more: Partial<Beginning> = {}): Beginning => ({
  id,
  created: 1000,
  keyId: "key_1",
  key: "dev",
  account: "default",
  format: "messages",
  requestedModel: "a/b",
  model: "a/b",
  stream: true,
  tags: null,
  session: null,
  team: null,
  ...more,
});
export const ended = (id: string, more: Partial<Beginning> = {}) =>
  interruptedGeneration(beginning(id, more));

/** Reads what is there, as pairs of event and data. */
export function reading(stream: ReadableStream<Uint8Array>) {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  return {
    cancel: () => reader.cancel(),
    /** One piece. */
    // deno-lint-ignore no-explicit-any
    async next(): Promise<[string, any][]> {
      const { value, done } = await reader.read();
      if (done) return [];
      return decoder.decode(value).split("\n\n").filter((frame) => frame.startsWith("event")).map((frame) => {
        const [, event, data] = /^event: (.*)\ndata: (.*)$/.exec(frame)!;
        return [event, JSON.parse(data)];
      });
    },
  };
}

export const ALONE: OtherProcesses = {
  count: () => 0,
  note: () => null,
  running: () => null,
  ended: () => null,
};

export function liveOf(more: Partial<LiveOptions> = {}): Live {
  const nobody = () => null;
  return new Live({
    now: () => 5000,
    running: () => [],
    recent: () => [],
    memberOf: nobody,
    others: ALONE,
    ...more,
  });
}

export const options = (filter: WatchOptions["filter"] = {}): WatchOptions => ({
  filter,
  stillMay: () => true,
});
