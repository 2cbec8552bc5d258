/** Fields that are read only at the start: a reload that changes one of them warns that it has no effect. */
import type { Config } from "./schema.ts";

/** The values of these fields, by their paths in the file. */
function readAtStart({ server, store, logs, logLevel, logGenerations }: Config): Record<string, unknown> {
  return {
    "server.hostname": server.hostname,
    "server.port": server.port,
    "server.max_connections": server.maxConnections,
    "server.header_seconds": server.headerMs,
    "server.idle_seconds": server.idleMs,
    "server.shutdown_grace_seconds": server.shutdownGraceMs,
    "server.workers": server.workers,
    // A reload reads the files of the certificate again.
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

/** A warning for each of these fields whose value differs from that at the start. */
export function unappliedChanges(started: Config, next: Config): string[] {
  const before = readAtStart(started);
  return Object.entries(readAtStart(next))
    .filter(([path, value]) => value !== before[path])
    .map(([path]) => `${path}: the change needs a restart and is not applied`);
}
