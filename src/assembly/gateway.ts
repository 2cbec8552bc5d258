/** The options of a gateway, and its interface to the process that serves it. */
import type { AccountsService, GenerationView } from "../accounts/mod.ts";
import type { Config } from "../config/schema.ts";
import type { IncomingRequest } from "../http/endpoint.ts";
import type { Server } from "../transport/server.ts";
import type { Model } from "../models/catalog.ts";
import type { AllMetrics } from "./all_metrics.ts";
import type { Clock } from "../timing/clock.ts";

export interface GatewayOptions {
  now(): number;
  /** @param level default: `info` */
  log(line: string, level?: "info" | "warn"): void;
  /**
   * Called for each generation that ended in this process, after its record was written.
   * @param trace id of its trace; undefined: it has none
   */
  recorded?(record: GenerationView, trace?: string): void;
  /**
   * Set if several processes share the port and the work: limits are divided among them, and metrics are
   * labelled with the worker.
   */
  worker?: WorkerPlace;
  /** For deadlines. Default: the clock of the process. */
  clock?: Clock;
  /** Milliseconds that a call, and a stream that can be resumed, waits for a slow store. Default: the usual. */
  storeWaitMs?: number;
  /** Waits before a retry. Default: a timer. */
  sleep?(ms: number): Promise<void>;
  /** Warnings about the configuration, for administrators. */
  warnings?: readonly string[];
  /** Milliseconds between two samples for alerts. Default: the usual. */
  alertsEveryMs?: number;
  /** Clock for the durations of alert rules. Default: the clock of the process. */
  alertsClock?: Clock;
  /** True: providers are asked for their models. Default: the catalog has the models of the configuration alone. */
  discovers?: boolean;
  /** Version of the program, for telemetry. */
  version?: string;
  /** Reads an environment variable, for the credentials of clouds. Default: none is set. */
  env?(name: string): string | undefined;
  /** CA certificates in PEM that are trusted for providers, in addition to those of the process. */
  caCerts?: string[];
}

export interface WorkerPlace {
  /** Number of this worker, from 1. */
  which: number;
  of: number;
}

export interface Gateway {
  handle(request: IncomingRequest, info?: { remoteAddr: Deno.Addr }): Promise<Response>;
  accounts: AccountsService;
  metrics: AllMetrics;
  /**
   * Sets the limit of open files of the process: calls whose clients have disconnected may use a part of it.
   * Null: no limit.
   */
  mayOpen(files: number | null): void;
  /** Adds the server's connection counts to the metrics, and keeps a part of its connections for keys with few calls. */
  observe(server: Pick<Server, "connections" | "busy" | "most" | "refused">): void;
  /** The current catalog. */
  models(): readonly Model[];
  /** Puts another configuration into force. Calls in progress keep the old one. */
  reload(config: Config, warnings?: readonly string[]): Promise<void>;
  /** Reports to administrators why a configuration could not be loaded. */
  notReloaded(error: unknown): void;
  /** After this, `/readyz` fails and new generations are refused. */
  stop(): void;
  /** Resolves when no generation is in progress. */
  idle(): Promise<void>;
  close(): Promise<{
    /** Whether the telemetry collector answered until the end; true if none is configured. */
    collectorAnswers: boolean;
  }>;
}
