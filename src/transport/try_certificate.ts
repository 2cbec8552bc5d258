/** Whether a certificate can be shown: apart from what listens with it, which takes modules of Node. */
import type { Certificate } from "./listener.ts";

/** Throws where the texts are none in PEM, or the key is not the certificate's. `node:tls` takes them without a look. */
export function tryCertificate({ cert, key }: Certificate): void {
  Deno.listenTls({ hostname: "127.0.0.1", port: 0, cert, key }).close();
}
