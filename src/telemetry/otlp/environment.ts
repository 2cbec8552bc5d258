/**
 * Settings from the variables of OpenTelemetry (its specification 1.56, "Environment Variables" and "OTLP
 * Exporter"). Deno does not start if `OTEL_EXPORTER_OTLP_COMPRESSION` is set, so requests are never
 * compressed.
 */

import { type Propagator, PROPAGATORS } from "../propagation.ts";

export type Protocol = "http/protobuf" | "http/json" | "grpc";

/** Where one kind of data is exported to. */
export interface Destination {
  url: string;
  protocol: Protocol;
  headers: Readonly<Record<string, string>>;
  timeoutMs: number;
  /** Paths of PEM files; undefined: none. */
  certificate: string | undefined;
  clientCertificate: string | undefined;
  clientKey: string | undefined;
}

/** Which traces are recorded. */
export interface Sampler {
  /** Share of the traces. */
  share: number;
  /** True: if the caller's `traceparent` has decided it, its decision is followed. */
  parentBased: boolean;
}

export interface ExportSettings {
  /** Null: traces are not exported. */
  traces: Destination | null;
  metrics: Destination | null;
  sampler: Sampler;
  propagators: readonly Propagator[];
  /** Attributes of the process. */
  resource: Record<string, string>;
  /** The longest time that a span waits before its batch is sent, in milliseconds. */
  spanDelayMs: number;
  /** Spans in one request. */
  batch: number;
  /** The most spans that may wait; null: only memory limits them. */
  mostSpans: number | null;
  metricsEveryMs: number;
  /** True: the measurements since the last export are sent. False: those since the start. */
  delta: boolean;
  /** True: only the newest names of the conventions for generative AI are used. */
  newestOnly: boolean;
  /** Errors in the variables. */
  mistakes: string[];
}

type Env = (name: string) => string | undefined;

const PROTOCOLS: readonly string[] = ["http/protobuf", "http/json", "grpc"];
const SAMPLERS: Readonly<Record<string, Sampler | { share: null; parentBased: boolean }>> = {
  always_on: { share: 1, parentBased: false },
  always_off: { share: 0, parentBased: false },
  traceidratio: { share: null, parentBased: false },
  parentbased_always_on: { share: 1, parentBased: true },
  parentbased_always_off: { share: 0, parentBased: true },
  parentbased_traceidratio: { share: null, parentBased: true },
};
const DEFAULTS = { url: "http://localhost:4318", grpc: "http://localhost:4317", timeoutMs: 10_000 };
/** A request with so many spans has about a megabyte. */
const BATCH = 4096;
const SPAN_DELAY_MS = 1000;
const METRICS_EVERY_MS = 60_000;
/** The longest time of a timer. Deno ends a longer one immediately. */
const LONGEST_MS = 2 ** 31 - 1;

/** Never throws: an invalid variable is named in `mistakes`, and its default is used. */
export function exportSettings(env: Env): ExportSettings {
  const mistakes: string[] = [];
  const off = (signal: string): boolean => {
    const names = listOf(env(`OTEL_${signal}_EXPORTER`)?.toLowerCase());
    const others = names.filter((name) => name !== "otlp" && name !== "none");
    if (others.length > 0) {
      mistakes.push(
        `OTEL_${signal}_EXPORTER contains "${others[0].slice(0, 40)}", expected otlp or none; otlp is used`,
      );
    }
    return others.length === 0 && names.includes("none");
  };
  const number = (name: string, otherwise: number, most = Infinity): number => {
    const text = env(name)?.trim();
    if (text === undefined || text === "") return otherwise;
    const value = Number(text);
    if (Number.isFinite(value) && value >= 1 && value <= most) return value;
    const range = most === Infinity ? "from 1 on" : `from 1 to ${most}`;
    mistakes.push(`${name} is "${text.slice(0, 40)}", expected a number ${range}; ${otherwise} is used`);
    return otherwise;
  };
  const time = (name: string, otherwise: number) => number(name, otherwise, LONGEST_MS);
  const destination = (signal: "TRACES" | "METRICS"): Destination | null => {
    try {
      return destinationOf(signal, { env, time, mistakes });
    } catch (error) {
      mistakes.push(`${(error as Error).message}; ${signal.toLowerCase()} are not exported`);
      return null;
    }
  };
  const mostSpans = number("OTEL_BSP_MAX_QUEUE_SIZE", 0);
  return {
    traces: off("TRACES") ? null : destination("TRACES"),
    metrics: off("METRICS") ? null : destination("METRICS"),
    sampler: samplerOf(env, mistakes),
    propagators: propagatorsOf(env, mistakes),
    resource: resourceOf(env),
    spanDelayMs: time("OTEL_BSP_SCHEDULE_DELAY", SPAN_DELAY_MS),
    batch: number("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", BATCH),
    mostSpans: mostSpans === 0 ? null : mostSpans,
    metricsEveryMs: time("OTEL_METRIC_EXPORT_INTERVAL", METRICS_EVERY_MS),
    delta: ["delta", "lowmemory"].includes(
      env("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE")?.toLowerCase() ?? "",
    ),
    newestOnly: listOf(env("OTEL_SEMCONV_STABILITY_OPT_IN")).includes("gen_ai_latest_experimental"),
    // Both kinds of data read the variables without a kind.
    mistakes: [...new Set(mistakes)],
  };
}

interface Surroundings {
  env: Env;
  time(name: string, otherwise: number): number;
  mistakes: string[];
}

/** Throws an error that names the variable if there is no usable address or protocol. */
function destinationOf(
  signal: "TRACES" | "METRICS",
  { env, time, mistakes }: Surroundings,
): Destination {
  const own = (what: string) => `OTEL_EXPORTER_OTLP_${signal}_${what}`;
  const all = (what: string) => `OTEL_EXPORTER_OTLP_${what}`;
  /** The variable that counts, with its text; null: neither is set. */
  const found = (what: string) =>
    [own(what), all(what)].map((name) => ({ name, text: env(name)?.trim() ?? "" }))
      .find(({ text }) => text !== "") ?? null;
  const of = (what: string) => found(what)?.text;
  const protocol = of("PROTOCOL") ?? "http/protobuf";
  if (!PROTOCOLS.includes(protocol)) {
    const { name } = found("PROTOCOL")!;
    throw new TypeError(
      `${name} is "${protocol.slice(0, 40)}", expected one of ${PROTOCOLS.join(", ")}`,
    );
  }
  const base = env(all("ENDPOINT"))?.trim() || (protocol === "grpc" ? DEFAULTS.grpc : DEFAULTS.url);
  const path = protocol === "grpc" ? "" : signal === "TRACES" ? "/v1/traces" : "/v1/metrics";
  const url = env(own("ENDPOINT"))?.trim() || base.replace(/\/+$/, "") + path;
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) {
    const name = found("ENDPOINT")?.name ?? all("ENDPOINT");
    throw new TypeError(`${name} is no address, expected one like ${DEFAULTS.url}`);
  }
  const headers = found("HEADERS");
  const [certificate, key] = ["CLIENT_CERTIFICATE", "CLIENT_KEY"].map(found);
  const alone = certificate === null ? key : key === null ? certificate : null;
  if (alone !== null) {
    const pair = `${all("CLIENT_CERTIFICATE")} and ${all("CLIENT_KEY")}`;
    mistakes.push(`${alone.name} is set alone, expected a certificate and its key (${pair}); it is ignored`);
  }
  const both = certificate !== null && key !== null;
  return {
    url,
    protocol: protocol as Protocol,
    headers: { ...loginOf(parsed), ...(headers && headersOf(headers, mistakes)) },
    timeoutMs: time(own("TIMEOUT"), time(all("TIMEOUT"), DEFAULTS.timeoutMs)),
    certificate: of("CERTIFICATE"),
    clientCertificate: both ? certificate.text : undefined,
    clientKey: both ? key.text : undefined,
  };
}

/** The user and the password of an address, as a header. */
function loginOf({ username, password }: URL): { authorization?: string } {
  if (username === "") return {};
  const login = `${percentDecoded(username)}:${percentDecoded(password)}`;
  return { authorization: `Basic ${new TextEncoder().encode(login).toBase64()}` };
}

function samplerOf(env: Env, mistakes: string[]): Sampler {
  const otherwise = { share: 1, parentBased: true };
  const name = env("OTEL_TRACES_SAMPLER")?.trim().toLowerCase() || "parentbased_always_on";
  const sampler = Object.hasOwn(SAMPLERS, name) ? SAMPLERS[name] : null;
  if (sampler === null) {
    const known = Object.keys(SAMPLERS).join(", ");
    mistakes.push(
      `OTEL_TRACES_SAMPLER is "${name.slice(0, 40)}", expected one of ${known}; all traces are recorded`,
    );
    return otherwise;
  }
  const { share, parentBased } = sampler;
  if (share !== null) return { share, parentBased };
  const text = env("OTEL_TRACES_SAMPLER_ARG")?.trim() || "1";
  const given = Number(text);
  if (given >= 0 && given <= 1) return { share: given, parentBased };
  mistakes.push(
    `OTEL_TRACES_SAMPLER_ARG is "${text.slice(0, 40)}", expected a number from 0 to 1; 1 is used`,
  );
  return { share: 1, parentBased };
}

/** Without the variable, baggage is not passed on: a provider may be a stranger, and baggage is for the own services. */
function propagatorsOf(env: Env, mistakes: string[]): Propagator[] {
  const names = listOf(env("OTEL_PROPAGATORS")?.toLowerCase());
  if (names.includes("none")) return [];
  const known = PROPAGATORS.filter((name) => names.includes(name));
  for (const name of names) {
    if ((known as readonly string[]).includes(name)) continue;
    mistakes.push(
      `OTEL_PROPAGATORS contains "${name.slice(0, 40)}", expected ${
        PROPAGATORS.join(", ")
      } or none; it is ignored`,
    );
  }
  return known.length === 0 ? ["tracecontext"] : known.sort((a, b) => names.indexOf(a) - names.indexOf(b));
}

function resourceOf(env: Env): Record<string, string> {
  const given = pairsOf(env("OTEL_RESOURCE_ATTRIBUTES"));
  const name = env("OTEL_SERVICE_NAME")?.trim();
  return { ...given, "service.name": name || given["service.name"] || "sluice" };
}

/** Parses `a=b,c=d` with percent-encoded values. */
function pairsOf(text: string | undefined): Record<string, string> {
  const pairs = listOf(text).flatMap((pair) => {
    const at = pair.indexOf("=");
    return at < 1 ? [] : [[pair.slice(0, at).trim(), percentDecoded(pair.slice(at + 1).trim())]];
  });
  return Object.fromEntries(pairs.filter(([name]) => /^[\x21-\x7e]+$/.test(name)));
}

/** Leaves out entries that are not valid headers. The messages do not show them, since they may be secrets. */
function headersOf(
  { name, text }: { name: string; text: string },
  mistakes: string[],
): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [i, entry] of listOf(text).entries()) {
    const [[header, value] = ["", ""]] = Object.entries(pairsOf(entry));
    if (/^[!#$%&'*+.^_`|~0-9a-z-]+$/i.test(header) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
      headers[header.toLowerCase()] = value;
    } else {
      mistakes.push(
        `${name}: entry ${i + 1} is no header, expected NAME=VALUE with commas between them; it is left out`,
      );
    }
  }
  return headers;
}

/** Unchanged if the encoding is invalid. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const listOf = (text: string | undefined): string[] =>
  (text ?? "").split(",").map((part) => part.trim()).filter((part) => part !== "");
