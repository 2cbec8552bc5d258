/**
 * Client certificates of Microsoft Entra: instead of a secret, an application sends a short-lived JWT that is signed with the private key
 * of a registered certificate (RFC 7523).
 */
import { Buffer } from "node:buffer";
import { createHash, createPrivateKey, X509Certificate } from "node:crypto";
import type { JWK } from "jose";
import { type Surroundings, variable } from "../surroundings.ts";
import { TokenError } from "../token_service.ts";

export interface CertificateClient {
  clientId: string;
  /** The token endpoint. */
  audience: string;
  /** Milliseconds since the epoch, by Entra's clock. */
  now: number;
}

/** Lifetime of an assertion in seconds. */
const LIFE_SECONDS = 600;

const PRIVATE_KEY = /-----BEGIN ((?:RSA |ENCRYPTED )?PRIVATE KEY)-----[\s\S]+?-----END \1-----/;
const CERTIFICATES = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/**
 * The JWT for a token request.
 *
 * @param path a PEM file with the private key and the certificate, the certificate of the key first
 */
export async function certificateAssertion(
  path: string,
  { clientId, audience, now }: CertificateClient,
  surroundings: Surroundings,
): Promise<string> {
  // Read each time: the file is replaced when the certificate is renewed.
  const text = await surroundings.readText(path).catch(() => {
    throw new TokenError("the client certificate file cannot be read");
  });
  const { key, chain } = contentOf(text, variable(surroundings, "AZURE_CLIENT_CERTIFICATE_PASSWORD"));
  const sendsChain = /^(?:true|1)$/i.test(
    variable(surroundings, "AZURE_CLIENT_SEND_CERTIFICATE_CHAIN") ?? "",
  );
  const issued = Math.floor(now / 1000);
  const { SignJWT } = await import("jose");
  try {
    return await new SignJWT()
      .setProtectedHeader({
        alg: "PS256",
        typ: "JWT",
        "x5t#S256": createHash("sha256").update(chain[0]).digest("base64url"),
        ...(sendsChain && { x5c: chain.map((certificate) => certificate.toString("base64")) }),
      })
      .setAudience(audience)
      .setIssuer(clientId)
      .setSubject(clientId)
      .setJti(crypto.randomUUID())
      .setNotBefore(issued)
      .setIssuedAt(issued)
      .setExpirationTime(issued + LIFE_SECONDS)
      .sign(key);
  } catch {
    throw new TokenError("the private key of the client certificate file cannot be used");
  }
}

/** The private key, and the certificates in DER. */
function contentOf(text: string, passphrase: string | undefined): { key: JWK; chain: Buffer[] } {
  const pem = PRIVATE_KEY.exec(text)?.[0];
  const certificates = text.match(CERTIFICATES) ?? [];
  if (pem === undefined || certificates.length === 0) {
    throw new TokenError("the client certificate file holds no private key or no certificate in PEM");
  }
  try {
    // jose reads neither encrypted keys nor those in the form of PKCS #1.
    const key = createPrivateKey({ key: pem, format: "pem", passphrase }).export({ format: "jwk" }) as JWK;
    return {
      key,
      chain: certificates.map((certificate) => Buffer.from(new X509Certificate(certificate).raw)),
    };
  } catch {
    throw new TokenError("the private key or a certificate of the client certificate file cannot be read");
  }
}
