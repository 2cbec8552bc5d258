/**
 * `sluice permissions`: the minimal Deno permissions that the gateway needs for a configuration.
 *
 * The network is unrestricted: providers redirect to other hosts, and the token endpoints of clouds depend on
 * where the process runs.
 */
import { dirname, resolve } from "node:path";
import type { Config } from "../config/schema.ts";
import { namedFor } from "../providers/credentials/named_in_files.ts";
import { CREDENTIAL_NEEDS, filesOf } from "../providers/credentials/needs.ts";
import type { Env } from "../providers/presets.ts";
import { TELEMETRY_FILES, TELEMETRY_VARIABLES, telemetryIsOn } from "../telemetry/config.ts";

/** Variables that are read with every configuration. */
const ALWAYS = [
  "DENO_SERVE_ADDRESS",
  "OTEL_DENO",
  "OTEL_RESOURCE_ATTRIBUTES",
  "OTEL_SDK_DISABLED",
  ...TELEMETRY_VARIABLES,
  "SLUICE_CONFIG",
  "SLUICE_PERMISSIONS",
  "SLUICE_WORKER",
  "SLUICE_HUB",
];
const PROXIES = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"];
const S3_VARIABLES = [...CREDENTIAL_NEEDS.aws.variables, "AWS_ENDPOINT_URL_S3"];

export interface Place {
  /** Path of the configuration; null: it is in the environment, or there is none. */
  source: string | null;
  /** Paths of the program's own files; empty: they are in the binary. */
  program: readonly string[];
  /** The executable that starts the workers. */
  deno: string;
}

/** @param asked names of all variables that were read while the configuration was loaded */
export function permissionFlags(
  config: Config,
  asked: Iterable<string>,
  env: Env,
  { source, program, deno }: Place,
): string[] {
  const needs = config.providers.map(({ auth }) => CREDENTIAL_NEEDS[auth.type]);
  const named = namedFor(config, env);
  const programs = [...(config.server.workers > 1 ? [deno] : []), ...named.programs];
  const payloads = config.payloads?.to.kind === "file" ? [config.payloads.to.folder] : [];
  const kept = [...foldersOf(config.store), ...payloads];
  const variables = [
    ...ALWAYS,
    ...asked,
    ...PROXIES.flatMap((name) => [name, name.toLowerCase()]),
    ...needs.flatMap((need) => need.variables),
    ...(config.payloads?.to.kind === "s3" ? S3_VARIABLES : []),
    // The PostgreSQL client reads many of these variables, set or not.
    ...(config.store.url.startsWith("postgres") ? ["PG*"] : []),
  ];
  const files = [
    ...program,
    ...(source === null ? [] : [source]),
    // Opened to find the limit of open files.
    "/dev/null",
    ...kept,
    ...config.providers.flatMap(({ auth }) =>
      auth.type === "google" && auth.credentialsFile !== null ? [auth.credentialsFile] : []
    ),
    ...needs.flatMap((need) => filesOf(need, env)),
    ...named.files,
    ...(config.payloads?.to.kind === "s3" ? filesOf(CREDENTIAL_NEEDS.aws, env) : []),
    ...Object.values(config.server.tls ?? {}),
    ...config.providers.flatMap(({ tls }) => Object.values(tls ?? {}).filter((path) => path !== null)),
    ...(telemetryIsOn(env) ? TELEMETRY_FILES.flatMap((name) => env(name) || []) : []),
    // The vocabulary and the labels are in the folder of the model.
    ...(config.dlp.model === undefined ? [] : [dirname(config.dlp.model)]),
  ];
  return [
    "--no-prompt",
    "--allow-net",
    listFlag("--allow-env", variables),
    listFlag("--allow-read", files.map((path) => resolve(path))),
    ...(kept.length > 0 ? [listFlag("--allow-write", kept.map((path) => resolve(path)))] : []),
    // Payload files are found by the name of their machine.
    ...(payloads.length > 0 ? ["--allow-sys=hostname"] : []),
    ...(programs.length > 0 ? [listFlag("--allow-run", programs)] : []),
  ];
}

function foldersOf({ url, journal }: Config["store"]): string[] {
  if (url === "sqlite::memory:") return [];
  if (url.startsWith("sqlite:")) return [dirname(url.slice("sqlite:".length))];
  const socket = new URL(url).searchParams.get("host");
  return [...(journal === null ? [] : [dirname(journal)]), ...(socket?.startsWith("/") ? [socket] : [])];
}

function listFlag(name: string, values: Iterable<string>): string {
  return `${name}=${[...new Set(values)].sort().join(",")}`;
}
