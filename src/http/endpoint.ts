/**
 * Describes an endpoint: one method on one path, with everything that dispatch, metrics and the OpenAPI
 * document need.
 *
 * Modules export lists of endpoints; `assemble.ts` joins them to one {@link EndpointTable}.
 */
import type {
  Access,
  AccessPolicy,
  AccountsService,
  Administration,
  GenerationView,
  Key,
  Principal,
  Trail,
} from "../accounts/mod.ts";
import type { LabelledMetrics } from "../metrics/prometheus.ts";
import type { ModelChange } from "../models/changes.ts";
import type { Kit } from "../pipeline/kit.ts";
import type { Resumption } from "../resume/mod.ts";
import type { LoadShedder } from "../timing/load_shedder.ts";
import type { ServerConfig } from "./config.ts";
import type { InFlight } from "./in_flight.ts";
import type { SocketMemory } from "./kept_turns.ts";
import type { OidcConfig } from "./oidc_config.ts";
import type { SocketsOfKeys } from "./sockets_of_keys.ts";
import type { RequestRates } from "./request_rates.ts";
import type { Sessions } from "./session.ts";
import type { Surface } from "./surfaces.ts";
import type { WrongKeys } from "./wrong_keys.ts";

/** State shared by all requests. Read anew for each request, because a configuration reload replaces it. */
export interface ServerState extends
  Pick<
    ServerConfig,
    | "maxBodyBytes"
    | "keepAliveMs"
    | "corsOrigins"
    | "docs"
    | "metrics"
    | "tls"
    | "publicUrl"
    | "trustedProxies"
  > {
  kit: Kit;
  administration: Administrations;
  /** Null: administration and console are disabled. */
  adminKey: string | null;
  /** Null: sign-in with an identity provider is disabled. */
  oidc: OidcConfig | null;
  sessions: Sessions;
  /** The current state, for operations during which the configuration may be reloaded. */
  current(): ServerState;
  program: Program;
  /** All endpoints, for the OpenAPI document. */
  endpoints(): Promise<readonly Endpoint[]>;
  /** The limit of this process, a share of the configured one, as `maxInFlightBytes`. */
  maxInFlight: number;
  maxInFlightBytes: number;
  /** Metrics of this process and of the other workers. */
  allMetrics(): Promise<readonly LabelledMetrics[]>;
  /** False during start and shutdown. */
  ready(): boolean;
  /** False: the database is a local file and cannot be used. */
  hasStore(): boolean;
  inFlight: InFlight;
  shedder: LoadShedder;
  wrongKeys: WrongKeys;
  requestRates: RequestRates;
  socketMemory: SocketMemory;
  socketsOfKeys: SocketsOfKeys;
  /** Per key, the share of this process. Null: unlimited. */
  maxSocketsPerKey: number | null;
  operation: Operation;
  accessPolicies: readonly AccessPolicy[];
  /** Stored resumable streams; created on first use. */
  resumption(): Promise<Resumption>;
}

/** Information about the running process. */
export interface Operation {
  /** The effective configuration without secrets, and the names of fields with default values. */
  configuration(): Promise<{ config: unknown; defaults: string[] }>;
  /** How the process started, and the result of its last reload. */
  about(): NodeStatus;
  /** The status of every running process. */
  nodes(): Promise<{ node: string; self: boolean; about: NodeStatus | null }[]>;
  /** Changes of the model catalog since the start, newest first. */
  catalogChanges(): readonly CatalogChange[];
  /** Differences between the catalog and the providers' current model lists. */
  differences(): Promise<ModelChange[]>;
}

export interface NodeStatus {
  worker: number | null;
  started: string;
  /** Null: no reload yet. */
  reload: Reload | null;
  /** Warnings about the current configuration. */
  warnings: readonly string[];
}

export interface Reload {
  at: string;
  ok: boolean;
  mistakes: readonly string[];
}

export type CatalogChange = ModelChange & { at: string };

/** The part of the administration available to API keys, and access to the rest for administrators. */
export interface Administrations extends Pick<Administration, "keyStatus"> {
  administration: AccountsService["administration"];
  trail: AccountsService["trail"];
  consoleSessions: AccountsService["consoleSessions"];
  /** Something has been changed: resolves when the workers beside this one know. */
  changed: AccountsService["changed"];
  storeUp(): boolean;
  /** Number of records not yet written to the store. */
  pendingCount(): number;
  tokens: AccountsService["tokens"];
  /** Whether the team exists. */
  isTeam(name: string): boolean;
  generation(id: string, of: { owner: Key }): Promise<GenerationView>;
}

export interface Program {
  version: string;
  license: string;
}

/** Properties of a client connection known to the server. */
export interface ConnectionInfo {
  remoteAddr: Deno.Addr;
}

/** The parts of a request that are used; the standard `Request` satisfies it. */
export interface IncomingRequest extends Pick<Request, "method" | "url" | "body" | "signal" | "arrayBuffer"> {
  readonly headers: Pick<Headers, "get" | "has"> & Iterable<[string, string]>;
  /** Applies `read` to a body that has arrived completely; null: it has not. Absent: the body must be awaited. */
  atHand?<T>(read: (bytes: Uint8Array) => T): T | null;
  /** The parsed body, for a request that did not arrive as bytes (a WebSocket message). */
  readonly parsed?: unknown;
}

/** A request while it is handled by an endpoint. */
export interface RequestContext {
  request: IncomingRequest;
  /** `gen_…`, sent as `x-request-id`. */
  id: string;
  path: string;
  surface: Surface;
  /** Values of the path's placeholders, percent-decoded. */
  parameters: Readonly<Record<string, string>>;
  state: ServerState;
  connection: ConnectionInfo | undefined;
  /** Handles another request that arrived through this one (a WebSocket message). */
  again(request: IncomingRequest, connection?: ConnectionInfo): Promise<Response>;
}

/** A request of an administrator with the access that the endpoint requires. */
export interface AdministrationContext extends RequestContext {
  principal: Principal;
  /** Limited to what the principal may see. Changes are written to the audit log. */
  administration: Administration;
  /** The audit log, for changes made outside `administration`. */
  trail: Trail;
  /** Whether the credential is still valid: for long answers. */
  stillMay(): boolean;
}

type Answer = Response | Promise<Response>;

export interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  description: string;
  /** Default: `string`. */
  type?: "string" | "integer" | "date-time";
  /** The allowed values. */
  values?: readonly string[];
  /** Inclusive bounds of an integer. */
  least?: number;
  most?: number;
  /** Regular expression for allowed values. */
  pattern?: string;
  /** Path parameters are always required. */
  required?: true;
}

export interface AnswerDescription {
  /** Default: 200. */
  status?: number;
  /** Name of the body's schema in the OpenAPI document; absent: the body is not JSON. */
  schema?: string;
  /** Media types; default: `application/json`. */
  types?: readonly string[];
  /** Further possible statuses without a body. */
  empty?: readonly (204 | 304)[];
}

interface Description {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Such as `/v1/models/{model}`. `{model}` matches one segment, `{model+}` the rest of the path. */
  path: string;
  surface: Surface;
  /** One sentence for the OpenAPI document. */
  summary: string;
  parameters?: readonly Parameter[];
  /** Name of the request body's schema; absent: no body. */
  request?: string;
  answer: AnswerDescription;
  /**
   * Whether the endpoint exists under this configuration. Default: yes, except that administration needs an
   * admin key.
   */
  exists?(state: ServerState): boolean;
}

/** The API key is authenticated before the handler runs. */
export interface KeyEndpoint extends Description {
  credential: "api_key";
  generates?: undefined;
  handle(context: RequestContext, key: Key): Answer;
}

/** The administrator is authenticated, and `access` is checked, before the handler runs. */
export interface AdministrationEndpoint extends Description {
  credential: "admin_key";
  access: Access;
  generates?: undefined;
  handle(context: AdministrationContext): Answer;
}

/**
 * `admin_or_loopback`: an administrator, or a connection from this machine; checked before the handler runs.
 * `session`: the console's session, which the handler checks.
 */
export interface OtherEndpoint extends Description {
  credential: "none" | "session" | "admin_or_loopback";
  generates?: undefined;
  handle(context: RequestContext): Answer;
}

/**
 * The handler authenticates the key itself, after the overload check, and adds the request id to its own
 * response, to keep the cost of a call low.
 */
export interface GenerationEndpoint extends Description {
  credential: "api_key";
  generates: true;
  handle(context: RequestContext): Answer;
}

export type Endpoint = KeyEndpoint | AdministrationEndpoint | OtherEndpoint | GenerationEndpoint;
