/** Which fields are read at the start alone: a reload that changes one of them has to say so. */
import type { Config } from "./schema.ts";

/** Their values by their paths in the file. */
function readAtStart({ server, store, logs, logLevel, logGenerations }: Config): Record<string, unknown> {
  return {
    "server.hostname": server.hostname,
    "server.port": server.port,
    "server.max_connections": server.maxConnections,
    "server.header_seconds": server.headerMs,
    "server.idle_seconds": server.idleMs,
    "server.shutdown_grace_seconds": server.shutdownGraceMs,
    "server.workers": server.workers,
    // The files of a certificate are read anew.
    "server.tls": server.tls !== null,
    "store.url": store.url,
    "store.journal": store.journal,
    "store.connections": store.connections,
    "store.offline_seconds": store.offlineMs,
    "store.retention_days": store.retentionDays,
    "store.pepper": store.pepper,
    logs,
    log_level: logLevel,
    log_generations: logGenerations,
  };
}

/** A warning for each field that has another value than at the start. */
export function notTakenOver(started: Config, next: Config): string[] {
  const before = readAtStart(started);
  return Object.entries(readAtStart(next))
    .filter(([path, value]) => value !== before[path])
    .map(([path]) => `${path}: the change needs a restart and is not applied`);
}
