/** What a gateway is given, and what it offers to the process that serves it. */
import type { AccountsService, GenerationView } from "../accounts/mod.ts";
import type { Config } from "../config/schema.ts";
import type { IncomingRequest } from "../http/endpoint.ts";
import type { Server } from "../transport/server.ts";
import type { Model } from "../models/catalog.ts";
import type { AllMetrics } from "./all_metrics.ts";
import type { Clock } from "../timing/clock.ts";

export interface GatewayOptions {
  now(): number;
  /** @param level absent: `info` */
  log(line: string, level?: "info" | "warn"): void;
  /**
   * Told of each generation that ended here, once it has its record.
   * @param trace id of its trace; undefined: it has none
   */
  recorded?(record: GenerationView, trace?: string): void;
  /** Where several processes share the port and the work: limits are divided among them, metrics tell them apart. */
  worker?: WorkerPlace;
  /** For deadlines; absent: the process's own. */
  clock?: Clock;
  /** How long a call waits for a slow store, in milliseconds; absent: the usual. */
  storeWaitMs?: number;
  /** Waits before a retry; absent: a timer. */
  sleep?(ms: number): Promise<void>;
  /** What is odd about the configuration, for administrators. */
  warnings?: readonly string[];
  /** Milliseconds between two looks at what alerts are about; absent: the usual. */
  alertsEveryMs?: number;
  /** What alerts are measured by; absent: the process's own. */
  alertsClock?: Clock;
  /** Providers are asked for their models. Absent: the configuration is all there is. */
  discovers?: boolean;
  /** Of the program, for telemetry. */
  version?: string;
  /** A variable of the environment, for credentials of clouds; absent: none is set. */
  env?(name: string): string | undefined;
  /** Certificates, in PEM, that providers may show besides those that the process trusts. */
  caCerts?: string[];
}

export interface WorkerPlace {
  /** From 1. */
  which: number;
  of: number;
}

export interface Gateway {
  handle(request: IncomingRequest, info?: { remoteAddr: Deno.Addr }): Promise<Response>;
  accounts: AccountsService;
  metrics: AllMetrics;
  /** How many files the process may open: calls whose callers have left keep a part of them at most. Null: as many as it needs. */
  mayOpen(files: number | null): void;
  /** Shows what the server knows of its connections among the metrics. */
  observe(server: Pick<Server, "connections" | "refused">): void;
  /** The catalog as it is now. */
  models(): readonly Model[];
  /** Takes another configuration over, without touching what is under way. */
  reload(config: Config, warnings?: readonly string[]): Promise<void>;
  /** A configuration could not be taken over: administrators are told why. */
  notReloaded(error: unknown): void;
  /** From now on `/readyz` says no and new generations are refused. */
  stop(): void;
  /** Resolves when no generation is under way. */
  idle(): Promise<void>;
  close(): Promise<{
    /** Whether the collector of telemetry answered until the end; true where there is none. */
    collectorAnswers: boolean;
  }>;
}
