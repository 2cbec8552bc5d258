/**
 * The reason why a server cannot be reached, in the gateway's own words: the message of an error may contain the URL and text from the
 * server.
 *
 * The patterns match the messages of rustls, hyper and the operating system in Deno 2.9.6.
 */

const NO_FILES = /Too many open files/;

/** The first match is used: TLS errors come before connection errors. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [/its own TLS files cannot be read/, "a file of its `tls` cannot be read"],
  [/its own TLS files cannot be used/, "the files of its `tls` cannot be used"],
  [/certificate expired/, "its certificate has expired"],
  [/certificate not valid yet/, "its certificate is not valid yet, or the clock of this machine is slow"],
  [/certificate not valid for name/, "its certificate is for another name"],
  [/UnknownIssuer/, "its certificate is signed by nobody whom this machine trusts (see DENO_CERT)"],
  [/CaUsedAsEndEntity/, "its certificate is signed by itself, as that of an authority and not of a server"],
  [/certificate does not allow extended key usage/, "its certificate is not one for servers"],
  [/invalid peer certificate|certificate revoked/, "its certificate is not valid"],
  [/alert: CertificateRequired/, "it asks for a certificate of this gateway"],
  [
    /peer is incompatible|alert: (?:ProtocolVersion|HandshakeFailure|InsufficientSecurity)/,
    "it refuses the TLS of this gateway, most often for want of a common version or cipher",
  ],
  [/received fatal alert/, "it refused the TLS handshake"],
  [/received corrupt message|peer misbehaved|received unexpected/, "what it sends is not TLS"],
  [
    /handshake eof|unexpected end of file|close_notify|connection (?:was )?closed/,
    "it closed the connection",
  ],
  [/earlier handshakes/i, "earlier TLS handshakes with it have not ended"],
  [/proxy authentication required|proxy authorization required/, "the proxy refuses the credentials"],
  [/unsuccessful tunnel/, "the proxy opens no connection to it"],
  [/opening CA file|pem file to certificate store/, "the certificates that DENO_CERT names cannot be read"],
  [/failed to lookup address|dns error/, "its name cannot be resolved"],
  [NO_FILES, "this process can open no more files"],
  [/requires net access/i, "this process may not connect to it"],
  [/connection refused/i, "the connection was refused"],
  [/connection reset|broken pipe/i, "the connection was reset"],
  [/network is unreachable|no route to host|host is unreachable/i, "there is no route to it"],
  [/timed out/i, "the connection timed out"],
];

/** Maximum depth of nested `cause` that is examined. */
const DEEPEST = 4;

/** The message, followed by the reason if it is known. */
export function because(words: string, cause: unknown): string {
  const why = whyUnreachable(cause);
  return why === null ? words : `${words}: ${why}`;
}

/** @returns null: the error matches no pattern */
export function whyUnreachable(cause: unknown): string | null {
  const messages = messagesOf(cause);
  return REASONS.find(([pattern]) => pattern.test(messages))?.[1] ?? null;
}

/** Whether the cause is in this process and not at the server. */
export function isLocal(cause: unknown): boolean {
  return NO_FILES.test(messagesOf(cause));
}

function messagesOf(cause: unknown): string {
  let messages = "";
  for (let error = cause, depth = 0; error instanceof Error && depth < DEEPEST; depth++) {
    messages += `${error.message}\n`;
    error = error.cause;
  }
  return messages;
}
