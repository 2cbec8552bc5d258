/** Validates a certificate and key, in a module of its own because the TLS listener loads Node modules. */
import type { Certificate } from "./listener.ts";

/** Throws if a text is not valid PEM, or the key does not match the certificate. `node:tls` does not check this. */
export function tryCertificate({ cert, key }: Certificate): void {
  Deno.listenTls({ hostname: "127.0.0.1", port: 0, cert, key }).close();
}
