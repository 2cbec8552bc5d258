/**
 * Stage: several answers from an API that gives one. As many calls run side by side; their parts come out as the choices
 * of one answer, their usage added up, because every call is billed by the provider.
 */
import type { Part } from "../exchange/part.ts";
import { addUsage, NO_USAGE, type Usage } from "../exchange/usage.ts";

/** Block numbers of choice i begin at i times this. */
const STRIDE = 1_000_000;

/**
 * @param ask starts one call
 * @param over told once one of them has failed, or all have ended
 */
export async function* choices(
  n: number,
  ask: (choice: number) => AsyncGenerator<readonly Part[]>,
  over: () => void = () => {},
): AsyncGenerator<readonly Part[]> {
  const usages: (Usage | null)[] = new Array(n).fill(null);
  const calls = Array.from({ length: n }, (_, i) => ask(i));
  const next = calls.map((call, i) => step(call, i));
  let open = n;
  let started = false;
  let estimated = false;
  try {
    while (open > 0) {
      const { i, batch } = await Promise.race(next.filter((p) => p !== undefined));
      if (batch === undefined) {
        open--;
        delete next[i];
        continue;
      }
      next[i] = step(calls[i], i);
      const out: Part[] = [];
      for (const part of batch) {
        if (part.type === "start") {
          if (!started) out.push(part);
          started = true;
        } else if (part.type === "usage") {
          usages[i] = part.usage;
          estimated ||= part.estimated === true;
          out.push({
            type: "usage",
            ...(estimated && { estimated }),
            usage: usages.reduce<Usage>((sum, u) => u ? addUsage(sum, u) : sum, NO_USAGE),
          });
        } else out.push(renumbered(part, i));
      }
      if (out.length > 0) yield out;
    }
  } finally {
    over();
    // One failed: the others that have begun are read to their end, since they are paid for either way.
    for (const call of calls) void drain(call);
  }
}

function step(call: AsyncGenerator<readonly Part[]>, i: number) {
  const taken = call.next().then(({ value, done }) => ({ i, batch: done ? undefined : value }));
  // It may fail while a slow caller takes what came before: nobody waits for it then, and the process would end.
  taken.catch(() => {});
  return taken;
}

async function drain(call: AsyncGenerator<readonly Part[]>): Promise<void> {
  try {
    while (!(await call.next()).done);
  } catch {
    // The first failure has been thrown already.
  }
}

function renumbered<P extends Part>(part: P, i: number): P {
  const moved = { ...part };
  if ("block" in moved) moved.block += i * STRIDE;
  if ("choice" in moved) moved.choice = i;
  return moved;
}
