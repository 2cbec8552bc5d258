/** All endpoints by path. A path without placeholders, such as those of generations, is found by one map lookup. */
import { Failure } from "../exchange/failure.ts";
import { hasAdministrators } from "./administrators.ts";
import type { Endpoint, ServerState } from "./endpoint.ts";
import { nameIn } from "./path.ts";
import type { Surface } from "./surfaces.ts";

const PLACEHOLDER = /\{(\w+)(\+?)\}/g;
const VERSION = "/v1";
/** The most path segments for which similar paths are suggested. */
const MOST_STEPS = 12;
const NO_PARAMETERS: Readonly<Record<string, string>> = {};

/** The endpoints of one path. */
export class PathEntry {
  readonly surface: Surface;
  /** Whether POST on this path runs a generation. */
  generates = false;
  readonly #byMethod = new Map<string, Endpoint>();
  /** Null: no placeholders. */
  readonly #pattern: RegExp | null;
  readonly #names: readonly string[];

  constructor(path: string, surface: Surface) {
    this.surface = surface;
    this.#names = [...path.matchAll(PLACEHOLDER)].map(([, name]) => name);
    const source = path.replaceAll(/[.+]/g, (c, at: number) => path[at + 1] === "}" ? c : `\\${c}`)
      .replaceAll(PLACEHOLDER, (_, __, rest: string) => rest ? "(.+)" : "([^/]+)");
    this.#pattern = this.#names.length === 0 ? null : new RegExp(`^${source}$`);
  }

  add(endpoint: Endpoint): void {
    const { method, path, surface } = endpoint;
    if (this.#byMethod.has(method)) throw new Error(`${method} ${path} stands in the table twice`);
    if (surface !== this.surface) throw new Error(`${path} belongs to two surfaces`);
    this.#byMethod.set(method, endpoint);
    this.generates ||= endpoint.generates === true;
  }

  /** Undefined: the path does not have this method. HEAD uses the endpoint of GET. */
  endpoint(method: string, state: ServerState): Endpoint | undefined {
    const found = this.#byMethod.get(method) ?? (method === "HEAD" ? this.#byMethod.get("GET") : undefined);
    return found !== undefined && exists(found, state) ? found : undefined;
  }

  /** Whether an endpoint of the path has this method, under any configuration. */
  has(method: string): boolean {
    return this.#byMethod.has(method === "HEAD" ? "GET" : method);
  }

  /** The value of the header `Allow`; null: no endpoint exists here under this configuration. */
  allowed(state: ServerState): string | null {
    const methods = [...this.#byMethod.values()].filter((e) => exists(e, state)).map((e) => e.method);
    if (methods.length === 0) return null;
    return [...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"].join(", ");
  }

  matches(path: string): boolean {
    return this.#pattern?.test(path) ?? false;
  }

  /** Throws `not_found` for a malformed percent-encoding or a control character. */
  parametersOf(path: string): Readonly<Record<string, string>> {
    if (this.#pattern === null) return NO_PARAMETERS;
    const values = this.#pattern.exec(path)!.slice(1);
    return Object.fromEntries(this.#names.map((name, i) => [name, nameIn(values[i])]));
  }
}

export class EndpointTable {
  #endpoints: readonly Endpoint[] = [];
  readonly #entries = new Map<string, PathEntry>();
  readonly #fixed = new Map<string, PathEntry>();
  readonly #patterns: PathEntry[] = [];
  #rest: (() => Promise<readonly Endpoint[]>) | null;
  #joining: Promise<void> | null = null;

  /** @param rest endpoints of other paths, loaded when a path is requested that `first` does not contain */
  constructor(first: readonly Endpoint[], rest: (() => Promise<readonly Endpoint[]>) | null = null) {
    this.#rest = rest;
    this.#join(first);
  }

  async all(): Promise<readonly Endpoint[]> {
    await this.restJoined();
    return this.#endpoints;
  }

  /** Resolves when the table is complete; null: it is. */
  restJoined(): Promise<void> | null {
    if (this.#rest === null) return null;
    return this.#joining ??= this.#rest().then((endpoints) => {
      this.#rest = null;
      this.#join(endpoints);
    }).finally(() => this.#joining = null);
  }

  #join(endpoints: readonly Endpoint[]): void {
    this.#endpoints = [...this.#endpoints, ...endpoints];
    for (const endpoint of endpoints) {
      const { path, surface } = endpoint;
      let entry = this.#entries.get(path);
      if (entry === undefined) {
        this.#entries.set(path, entry = new PathEntry(path, surface));
        if (path.includes("{")) this.#patterns.push(entry);
        else this.#fixed.set(path, entry);
      }
      entry.add(endpoint);
    }
  }

  /**
   * The path that a client with a wrong base URL intended: some clients have the version in the base URL and
   * others in the path, so it occurs twice or not at all. Only paths with this method are considered.
   */
  meant(method: string, path: string): string | undefined {
    const steps = path.split("/").slice(1, MOST_STEPS);
    for (let i = 0; i < steps.length; i++) {
      const right = `${VERSION}/${steps.slice(i).join("/")}`;
      if (right !== path && this.at(right)?.has(method)) return right;
    }
    return undefined;
  }

  /** Undefined: no endpoint has this path, or the table is not complete. */
  at(path: string): PathEntry | undefined {
    return this.#fixed.get(path) ?? this.#patterns.find((entry) => entry.matches(path));
  }
}

/**
 * The answer for a method that the path does not have: the methods for OPTIONS, otherwise 405 with an `Allow`
 * header.
 */
export function otherMethod(method: string, path: string, allowed: string | null): Response {
  if (allowed === null) throw notFound(method, path);
  if (method === "OPTIONS") return new Response(null, { status: 204, headers: { allow: allowed } });
  throw new Failure("method_not_allowed", `Cannot ${method} here: expected ${allowed}.`, {
    details: { allow: allowed },
    headers: { allow: allowed },
  });
}

/** @param right the path that was probably intended */
export function notFound(method: string, path: string, right?: string): Failure {
  const said = `There is no ${method} ${path.slice(0, 200)} here`;
  if (right === undefined) return new Failure("not_found", `${said}.`);
  const advice = path.endsWith(right)
    ? `Remove ${path.slice(0, -right.length)} from the base URL`
    : `The base URL must end with ${right.slice(0, right.indexOf("/", 1))}`;
  return new Failure("not_found", `${said}, it is ${method} ${right}. ${advice}.`);
}

/** The failure for the root path: it names the paths of manual, console and API. */
export function nothingAtRoot(method: string, state: ServerState): Failure {
  const places = [
    ...(state.docs ? ["the manual is at /docs"] : []),
    ...(hasAdministrators(state) ? ["the console is at /console"] : []),
    "the API is at /v1",
  ];
  return new Failure("not_found", `There is no ${method} / here: ${places.join(", ")}.`);
}

function exists(endpoint: Endpoint, state: ServerState): boolean {
  if (endpoint.exists !== undefined) return endpoint.exists(state);
  return endpoint.credential !== "admin_key" || hasAdministrators(state);
}
