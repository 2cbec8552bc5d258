/**
 * How a request proves to a provider who sends it. A kind of credential is a function that makes such an object, in a file of
 * its own in this folder.
 */
export interface ProviderCredential {
  /** Equal for two credentials of the same account. It may hold the secret: it is compared, and never shown. */
  readonly identity: string;
  /** An API key, which goes where the API wants it. Absent: there is none. */
  readonly key?: string;
  /** Where the models are listed that are called at an address, where the environment says it; undefined: it does not. */
  listsOf?(baseUrl: string): string | undefined;
  /** Headers of every request. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Headers that depend on the request or on the time: a signature, a token that expires. Called with the request as it
   * will be sent. Absent where the headers never change, which spares each call a promise. Throws a Failure when there is
   * no credential to be had.
   */
  sign?(request: SignedRequest): Promise<Record<string, string>>;
  /**
   * Whether a refusal is about the credential itself, and another attempt with a fresh one may succeed. What the request
   * was sent with is then not used again.
   * @param sent the headers that `sign` gave for the refused request
   */
  refused?(refusal: CredentialRefusal, sent: Readonly<Record<string, string>>): boolean;
}

/** A request as it will be sent, but for the headers that its signature adds. */
export interface SignedRequest {
  method: "GET" | "POST";
  url: string;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  body: string | Uint8Array<ArrayBuffer>;
}

/** An answer of a provider whose status is not 2xx. */
export interface CredentialRefusal {
  status: number;
  header(name: string): string | null;
  /** The beginning of the body. */
  text: string;
}
