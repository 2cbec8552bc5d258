/** Reads and checks the certificates that `server.tls`, and `tls` of a provider, name. */
import { object } from "../exchange/json.ts";
import type { InputPath, Report } from "../schema/mistakes.ts";
import { tryCertificate } from "../transport/try_certificate.ts";

export interface CertificateFiles {
  cert: string;
  key: string;
}

/** The texts of both files. Throws if one cannot be read. */
export async function readCertificate({ cert, key }: CertificateFiles): Promise<CertificateFiles> {
  return { cert: await Deno.readTextFile(cert), key: await Deno.readTextFile(key) };
}

export interface CheckOptions {
  now?: number;
  /** Path of the section in the configuration. */
  at?: InputPath;
  /** Who would refuse a certificate out of its time. */
  refusing?: string;
}

/** Reports files of a provider's `tls` that cannot be used. */
export async function checkClientTls(tls: unknown, report: Report, at: InputPath): Promise<void> {
  const { ca, cert, key } = object(tls);
  if (typeof ca === "string" && !textOf(ca).includes("-----BEGIN CERTIFICATE-----")) {
    report.expect("the path of a file with certificates in PEM", ca, [...at, "ca"]);
  }
  if (typeof cert !== "string" || typeof key !== "string") return;
  await checkCertificate({ cert, key }, report, { at, refusing: "the provider refuses" });
}

/** "" if it cannot be read. */
function textOf(path: string): string {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return "";
  }
}

/**
 * Reports files that cannot be read, have other content, or do not belong together. Warns of a certificate
 * that has expired or is not valid yet.
 */
export async function checkCertificate(
  files: CertificateFiles,
  report: Report,
  { now = Date.now(), at = ["server", "tls"], refusing = "callers refuse" }: CheckOptions = {},
): Promise<void> {
  const path = (field: keyof CertificateFiles) => [...at, field];
  const texts = { cert: "", key: "" };
  let unread = false;
  for (const field of ["cert", "key"] as const) {
    try {
      texts[field] = Deno.readTextFileSync(files[field]);
    } catch {
      unread = true;
      report.expect("the path of a file that can be read", files[field], path(field));
    }
  }
  if (unread) return;
  if (!texts.cert.includes("-----BEGIN CERTIFICATE-----")) {
    return report.expect("the path of a certificate in PEM", files.cert, path("cert"));
  }
  // A private key with a password: PKCS #8 says so in its first line, older forms in the second.
  if (!/-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----/.test(texts.key) || /ENCRYPTED/.test(texts.key)) {
    return report.expect("the path of a private key in PEM, without a password", files.key, path("key"));
  }
  try {
    tryCertificate(texts);
  } catch (error) {
    const message = error instanceof Error ? error.message : "";
    if (/certificate/.test(message)) {
      return report.expect("the path of a certificate in PEM that is whole", files.cert, path("cert"));
    }
    if (/decode key|key data/.test(message)) {
      return report.expect("the path of a private key in PEM that is whole", files.key, path("key"));
    }
    return report.expect("the path of the certificate's own private key", files.key, path("key"));
  }
  const { X509Certificate } = await import("node:crypto");
  const { validFrom, validTo } = new X509Certificate(texts.cert);
  const day = (text: string) => new Date(text).toISOString().slice(0, 10);
  const doubt = (wanted: string) => report.doubt(`a certificate ${wanted}`, files.cert, path("cert"));
  if (Date.parse(validTo) < now) doubt(`whose time is not over (${refusing} it since ${day(validTo)})`);
  if (Date.parse(validFrom) > now) {
    doubt(`whose time has begun (${refusing} it before ${day(validFrom)})`);
  }
}
