/**
 * Authentication of requests to a provider. Each kind of credential is a function that creates such an
 * object, in a module of its own in this folder.
 */
export interface ProviderCredential {
  /**
   * Equal for two credentials of the same account. May contain the secret: used for comparison only, never
   * displayed.
   */
  readonly identity: string;
  /** An API key, sent as the API requires. Absent: none. */
  readonly key?: string;
  /** The base URL of model lists for calls to a base URL, if the environment defines one; otherwise undefined. */
  listsOf?(baseUrl: string): string | undefined;
  /** Headers of every request. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Headers that depend on the request or on time: a signature, an expiring token. Called with the complete
   * request. Absent if headers are constant, which saves each call a promise. Throws a Failure if no
   * credential is available.
   */
  sign?(request: SignedRequest): Promise<Record<string, string>>;
  /**
   * Whether an error concerns the credential itself, and a retry with a fresh one may succeed. The rejected
   * credential is then discarded.
   * @param sent the headers that `sign` returned for the request
   */
  refused?(refusal: CredentialRefusal, sent: Readonly<Record<string, string>>): boolean;
}

/** A complete request except for the headers of its signature. */
export interface SignedRequest {
  method: "GET" | "POST";
  url: string;
  /** Lower-case names. */
  headers: Readonly<Record<string, string>>;
  body: string | Uint8Array<ArrayBuffer>;
}

/** A response with another status than 2xx. */
export interface CredentialRefusal {
  status: number;
  header(name: string): string | null;
  /** The beginning of the body. */
  text: string;
}
