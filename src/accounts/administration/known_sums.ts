/** Aggregates calls in memory, in the form of the store's sums. */
import type { Generation, UsageDimension, UsageSum } from "../../store/mod.ts";

const isFailed = ({ status }: Generation) => status === "failed" || status === "interrupted";

function valueOf(g: Generation, dimension: UsageDimension): string {
  if (dimension === "day") return new Date(g.created).toISOString().slice(0, 10);
  if (dimension.startsWith("tag:")) return g.tags?.[dimension.slice(4)] ?? "";
  return g[dimension as "key" | "model" | "account" | "provider" | "format" | "team" | "session"] ?? "";
}

/** Most expensive first. */
export function knownSums(calls: readonly Generation[], by: readonly UsageDimension[]): UsageSum[] {
  const labelled = by.some((name) => name === "team" || name === "session" || name.startsWith("tag:"));
  const groups = Map.groupBy(
    calls,
    (g) =>
      JSON.stringify([...by.map((dimension) => valueOf(g, dimension)), by.includes("key") ? g.keyId : ""]),
  );
  const sums = [...groups.values()].map((group): UsageSum => {
    const sum = (of: (g: Generation) => number) => group.reduce((n, g) => n + of(g), 0);
    const money = (of: (g: Generation) => bigint) => group.reduce((n, g) => n + of(g), 0n);
    const [first] = group;
    return {
      of: {
        ...Object.fromEntries(by.map((dimension) => [dimension, valueOf(first, dimension)])),
        ...(by.includes("key") && { keyId: first.keyId }),
      },
      generations: group.length,
      failed: group.filter(isFailed).length,
      input: sum(({ usage }) => usage?.input ?? 0),
      cached: sum(({ usage }) => usage?.cached ?? 0),
      cacheWrite: sum(({ usage }) => usage?.cacheWrite ?? 0),
      output: sum(({ usage }) => usage?.output ?? 0),
      reasoning: sum(({ usage }) => usage?.reasoning ?? 0),
      searches: sum(({ searches }) => searches),
      cost: money(({ cost }) => cost),
      cacheSaved: money(({ cacheSaved }) => cacheSaved ?? 0n),
      ...(labelled && {
        labelled: {
          latencyMs: sum(({ latencyMs }) => latencyMs),
          toolCalls: sum(({ toolCalls }) => toolCalls ?? 0),
        },
      }),
    };
  });
  return sums.sort((a, b) => a.cost < b.cost ? 1 : a.cost > b.cost ? -1 : b.generations - a.generations);
}
