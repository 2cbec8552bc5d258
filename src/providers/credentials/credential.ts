/**
 * How a request proves to a provider who sends it. A kind of credential is a function that makes such an object, in a file of
 * its own in this folder.
 */
export interface ProviderCredential {
  /** Equal for two credentials of the same account. It may hold the secret: it is compared, and never shown. */
  readonly identity: string;
  /** Headers of every request. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Headers that depend on the request or on the time: a signature, a token that expires. Called with the request as it
   * will be sent. Absent where the headers never change, which spares each call a promise.
   */
  sign?(request: SignedRequest): Promise<Record<string, string>>;
}

/** A request as it will be sent, but for the headers that its signature adds. */
export interface SignedRequest {
  method: "GET" | "POST";
  url: string;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  body: string;
}
