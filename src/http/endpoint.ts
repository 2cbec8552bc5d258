/**
 * What an endpoint is: one method on one path, with all that dispatch, metrics and an OpenAPI document need to know of it.
 *
 * Rooms list their endpoints; `assemble.ts` joins the lists to one {@link EndpointTable}.
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

/** What all requests share. Read anew for each of them, because a reload of the configuration replaces it. */
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
  /** Null: the administration and the console do not exist. */
  adminKey: string | null;
  /** Null: nobody signs in with an identity provider. */
  oidc: OidcConfig | null;
  sessions: Sessions;
  /** As it is now, for what goes on while the configuration changes. */
  current(): ServerState;
  program: Program;
  /** All that there are, for the API's document. */
  endpoints(): Promise<readonly Endpoint[]>;
  /** This process's share, as that of the next. */
  maxInFlight: number;
  maxInFlightBytes: number;
  /** Of this process and the other workers. */
  allMetrics(): Promise<readonly LabelledMetrics[]>;
  /** False while starting and while stopping. */
  ready(): boolean;
  /** False: the database is a file of this machine, and cannot be used. */
  hasStore(): boolean;
  inFlight: InFlight;
  shedder: LoadShedder;
  wrongKeys: WrongKeys;
  requestRates: RequestRates;
  socketMemory: SocketMemory;
  socketsOfKeys: SocketsOfKeys;
  /** Of one key; this process's share. Null: no bound. */
  maxSocketsPerKey: number | null;
  operation: Operation;
  accessPolicies: readonly AccessPolicy[];
  /** Streams that are kept; made with the first call that asks for it. */
  resumption(): Promise<Resumption>;
}

/** What a process tells of its own running. */
export interface Operation {
  /** As it runs, without secrets, and which of it are defaults. */
  configuration(): Promise<{ config: unknown; defaults: string[] }>;
  /** How it started, and how its last reload went. */
  about(): NodeStatus;
  /** What each living process says of itself. */
  nodes(): Promise<{ node: string; self: boolean; about: NodeStatus | null }[]>;
  /** What has changed in the catalog since the process began, newest first. */
  catalogChanges(): readonly CatalogChange[];
  /** What would change with what the providers list now. */
  differences(): Promise<ModelChange[]>;
}

export interface NodeStatus {
  worker: number | null;
  started: string;
  /** Null: there was none. */
  reload: Reload | null;
  /** Of the configuration in force. */
  warnings: readonly string[];
}

export interface Reload {
  at: string;
  ok: boolean;
  mistakes: readonly string[];
}

export type CatalogChange = ModelChange & { at: string };

/** What keys may ask of the accounts, and the way to the rest for those who administer. */
export interface Administrations extends Pick<Administration, "keyStatus"> {
  administration: AccountsService["administration"];
  trail: AccountsService["trail"];
  consoleSessions: AccountsService["consoleSessions"];
  storeUp(): boolean;
  /** Records that are not in the store yet. */
  pendingCount(): number;
  tokens: AccountsService["tokens"];
  /** Whether there is such a team. */
  isTeam(name: string): boolean;
  generation(id: string, of: { owner: Key }): Promise<GenerationView>;
}

export interface Program {
  version: string;
  license: string;
}

/** What the server knows of a connection. */
export interface ConnectionInfo {
  remoteAddr: Deno.Addr;
}

/** What is read of a request; the web's Request has it all. */
export interface IncomingRequest extends Pick<Request, "method" | "url" | "body" | "signal" | "arrayBuffer"> {
  readonly headers: Pick<Headers, "get" | "has"> & Iterable<[string, string]>;
  /** What `read` makes of a body that is there whole; null: it is not. Absent: the body has to be waited for. */
  atHand?<T>(read: (bytes: Uint8Array) => T): T | null;
  /** The body, where it came another way than as bytes of this request. */
  readonly parsed?: unknown;
}

/** One request on its way through an endpoint. */
export interface RequestContext {
  request: IncomingRequest;
  /** `gen_…`, the answer's `x-request-id`. */
  id: string;
  path: string;
  surface: Surface;
  /** Values of the path's placeholders, decoded. */
  parameters: Readonly<Record<string, string>>;
  state: ServerState;
  connection: ConnectionInfo | undefined;
  /** Handles a further request that came with this one. */
  again(request: IncomingRequest, connection?: ConnectionInfo): Promise<Response>;
}

/** One that administers, within the access that its endpoint names. */
export interface AdministrationContext extends RequestContext {
  principal: Principal;
  /** Sees what the principal may see. What it changes is noted. */
  administration: Administration;
  /** For changes that the administration knows nothing of. */
  trail: Trail;
  /** Whether the principal may still go on: for answers that take their time. */
  stillMay(): boolean;
}

type Answer = Response | Promise<Response>;

export interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  description: string;
  /** By default `string`. */
  type?: "string" | "integer" | "date-time";
  /** The values allowed, where they are few. */
  values?: readonly string[];
  /** Bounds of an integer, both allowed. */
  least?: number;
  most?: number;
  /** Regular expression of what is allowed. */
  pattern?: string;
  /** Parameters of a path always are. */
  required?: true;
}

export interface AnswerDescription {
  /** By default 200. */
  status?: number;
  /** Name of its schema in the API's document; absent: not JSON. */
  schema?: string;
  /** Media types; by default `application/json` alone. */
  types?: readonly string[];
  /** Answers without a body that there are besides. */
  empty?: readonly (204 | 304)[];
}

interface Description {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  /** `/v1/models/{model}`: a placeholder is one segment of the path, `{model+}` all that follows. */
  path: string;
  surface: Surface;
  /** One sentence for the API's document. */
  summary: string;
  parameters?: readonly Parameter[];
  /** Name of the body's schema; absent: there is no body. */
  request?: string;
  answer: AnswerDescription;
  /** Whether it exists under this configuration. By default it does, administration only with an admin key. */
  exists?(state: ServerState): boolean;
}

/** The key is known before the handler runs. */
export interface KeyEndpoint extends Description {
  credential: "api_key";
  generates?: undefined;
  handle(context: RequestContext, key: Key): Answer;
}

/** Checked before the handler runs: whoever administers, and may do what `access` says. */
export interface AdministrationEndpoint extends Description {
  credential: "admin_key";
  access: Access;
  generates?: undefined;
  handle(context: AdministrationContext): Answer;
}

/**
 * `admin_or_loopback`: as for the administration, or a connection from this machine. Checked before the handler runs. `session`:
 * the console's session; the handler checks it.
 */
export interface OtherEndpoint extends Description {
  credential: "none" | "session" | "admin_or_loopback";
  generates?: undefined;
  handle(context: RequestContext): Answer;
}

/**
 * Checks the credential itself, behind the refusals of an overloaded service, and puts the ids on its own answer: a call
 * must not pay for what it does not need.
 */
export interface GenerationEndpoint extends Description {
  credential: "api_key";
  generates: true;
  handle(context: RequestContext): Answer;
}

export type Endpoint = KeyEndpoint | AdministrationEndpoint | OtherEndpoint | GenerationEndpoint;
