/**
 * Definition of a cloud: a provider where each API has its own URL, and possibly its own form of requests and
 * framing. `base_url` is scheme, host and port; paths depend on API, model and location.
 */
import { type ModelsList, PROVIDER_APIS, type ProviderApi } from "../apis/mod.ts";

export interface Cloud {
  /** Equal for two clouds with the same endpoint. */
  readonly identity: string;
  /** Configured deployments, as named in routes. */
  readonly models?: readonly string[];
  /**
   * An API adapted to the cloud; the same object for all models that are called in the same way.
   * @param name undefined: the provider's default, or the default for the model
   */
  api(name: string | undefined, model: string): ProviderApi;
}

/** The cloud settings of the configuration. Null fields: not set. */
export interface CloudSettings {
  /** The API of routes without one; null: the default for the model. */
  api: string | null;
  region: string | null;
  project: string | null;
  location: string | null;
  resource: string | null;
  /** Deployment names by model name in routes. */
  deployments: Readonly<Record<string, string>>;
}

/** Reads an environment variable. */
export type Env = (name: string) => string | undefined;

/** Settings in files of the vendor's tools. */
export interface FilesSaid {
  /** By field name. */
  place: Readonly<Partial<Record<CloudField, string>>>;
  /** An explicit endpoint URL. */
  baseUrl?: string;
  /** Endpoint kinds, by the corresponding variable. */
  hosts: Readonly<Record<string, string | undefined>>;
}

/** Configuration fields for the location of a cloud provider. */
export type CloudField = "region" | "project" | "location" | "resource";

export interface CloudKind {
  /** Names of the supported APIs. */
  readonly apis: readonly string[];
  readonly fields: readonly {
    readonly name: CloudField;
    /** Variables used if the field is not set; the first that is set counts. */
    readonly variables: readonly string[];
    /** The default if none is set. */
    readonly usual?: string;
    /** Not needed if a base URL is configured. */
    readonly addressOnly?: true;
  }[];
  /** Null: there is no list of callable models. */
  readonly modelsList: ModelsList | null;
  /** Variables of the vendor's libraries that override the endpoint. */
  readonly otherUrls: readonly string[];
  /** Whether these variables, and endpoints in files, are ignored. Absent: never. */
  ignoresOthers?(env: Env): boolean;
  /** Variables that indicate a credential on this machine; it may have one without them. */
  readonly credentials: readonly string[];
  /** The default `auth` if no key is configured. */
  auth(region: string | undefined, baseUrl: string): Readonly<Record<string, string>>;
  /**
   * The base URL without path.
   * @param said variables, and settings in files, for the kind of endpoint
   */
  baseUrl(at: Readonly<Partial<Record<CloudField, string>>>, said: Env): string;
  /** The location that is part of the vendor's host names. Absent: there is none. */
  placeIn?(baseUrl: string): Readonly<Partial<Record<CloudField, string>>>;
  /**
   * Settings in files of the vendor's tools.
   * @param auth of the provider's configuration
   */
  filesSay?(env: Env, auth: unknown): FilesSaid;
  open(settings: CloudSettings): Cloud;
}

/** An API of a cloud: the vendor's, with another URL and other differences. */
export type Variant =
  & Partial<ProviderApi>
  & Required<Pick<ProviderApi, "name" | "address" | "keyHeaders">>;

/** Without a model list, which a cloud has separately. Clouds do their own billing. */
export function variant(own: Variant): ProviderApi {
  const api = PROVIDER_APIS.find(({ name }) => name === own.name);
  if (api === undefined) throw new Error(`no provider API has the name ${own.name}`);
  return { ...api, modelsList: null, readsBillingNote: false, ...own };
}

/** Encodes a name as one path segment, as the libraries of AWS and Google do. */
export function segment(name: string): string {
  return encodeURIComponent(name).replace(
    /[!'()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
