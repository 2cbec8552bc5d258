/**
 * What a cloud is: one provider at which each API has an address of its own, and may want its requests and frame its answers
 * in a way of its own. Its `base_url` is scheme, host and port; the paths follow from the API, the model and the place.
 */
import { type ModelsList, PROVIDER_APIS, type ProviderApi } from "../apis/mod.ts";

export interface Cloud {
  /** Equal for two that call the same place. */
  readonly identity: string;
  /** Models that the configuration says are there, as routes name them. */
  readonly models?: readonly string[];
  /**
   * An API as the cloud has it, the same object for all models that are called alike.
   * @param name undefined: the one that the provider names, else the usual one for the model
   */
  api(name: string | undefined, model: string): ProviderApi;
}

/** What the configuration says of the place. Null: nothing. */
export interface CloudSettings {
  /** The API of routes that name none; null: the usual one for the model. */
  api: string | null;
  region: string | null;
  project: string | null;
  location: string | null;
  resource: string | null;
  /** Names of deployments, by the names that routes have for the models. */
  deployments: Readonly<Record<string, string>>;
}

/** Looks up one variable of the environment. */
export type Env = (name: string) => string | undefined;

/** What files of the vendor's own tools say of the place of a cloud. */
export interface FilesSaid {
  /** By the name of the field. */
  place: Readonly<Partial<Record<CloudField, string>>>;
  /** Another address. */
  baseUrl?: string;
  /** Kinds of hosts that are wanted, by the variable that says the same. */
  hosts: Readonly<Record<string, string | undefined>>;
}

/** Fields of a provider's configuration that say where its cloud is. */
export type CloudField = "region" | "project" | "location" | "resource";

export interface CloudKind {
  /** Names of the APIs that it has. */
  readonly apis: readonly string[];
  readonly fields: readonly {
    readonly name: CloudField;
    /** Variables that count where the file says nothing, the first that is set. */
    readonly variables: readonly string[];
    /** What counts where these say nothing either. */
    readonly usual?: string;
    /** Not needed where the file names an address. */
    readonly addressOnly?: true;
  }[];
  /** Null: it has no list of what can be called. */
  readonly modelsList: ModelsList | null;
  /** Variables of the vendor's own libraries that hold another address. */
  readonly otherUrls: readonly string[];
  /** Whether these variables, and addresses in files, are to be passed over. Absent: never. */
  ignoresOthers?(env: Env): boolean;
  /** Variables that tell that this machine has a credential, which it may have without them. */
  readonly credentials: readonly string[];
  /** The credential where the file names no key: the `auth` of the configuration. */
  auth(region: string | undefined): Readonly<Record<string, string>>;
  /** The address without path. @param said what variables, and files in their place, say of the kind of host */
  baseUrl(at: Readonly<Partial<Record<CloudField, string>>>, said: Env): string;
  /** What files of the vendor's own tools say of the place. @param auth of the provider's configuration */
  filesSay?(env: Env, auth: unknown): FilesSaid;
  open(settings: CloudSettings): Cloud;
}

/** One API of a cloud: the vendor's, with another address and what else differs. */
export type Variant =
  & Partial<ProviderApi>
  & Required<Pick<ProviderApi, "name" | "address" | "keyHeaders">>;

/** Without the list of models: a cloud has that elsewhere. */
export function variant(own: Variant): ProviderApi {
  const api = PROVIDER_APIS.find(({ name }) => name === own.name);
  if (api === undefined) throw new Error(`no provider API has the name ${own.name}`);
  return { ...api, modelsList: null, ...own };
}

/** A name within one segment of a path, as AWS's and Google's own libraries write it. */
export function segment(name: string): string {
  return encodeURIComponent(name).replace(
    /[!'()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
