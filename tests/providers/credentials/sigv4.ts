/** An independent check of Signature Version 4, written from AWS's description with node:crypto. */
import { createHash, createHmac } from "node:crypto";

export interface SignedParts {
  method: string;
  /** As it was sent, encoded once; with the query. */
  path: string;
  headers: Headers;
  body: string;
}

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const hmac = (key: string | Uint8Array, text: string) => createHmac("sha256", key).update(text).digest();

/** What is wrong with the signature; null: it is right. */
export function signatureFault(request: SignedParts, secretAccessKey: string): string | null {
  const authorization = request.headers.get("authorization") ?? "";
  const found =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/
      .exec(authorization);
  if (!found) return `no signature in ${JSON.stringify(authorization.slice(0, 30))}`;
  const [, , day, region, service, names, signature] = found;
  for (const name of ["host", "x-amz-date"]) {
    if (!names.split(";").includes(name)) return `${name} is not signed`;
  }
  const date = request.headers.get("x-amz-date") ?? "";
  if (!date.startsWith(day)) return "the day differs";
  const [path, query = ""] = request.path.split("?");
  // Each segment is encoded once more for the signature; the slashes between them are not.
  const canonicalPath = path.split("/").map(strictly).join("/");
  const canonicalHeaders = names.split(";").map((name) =>
    `${name}:${request.headers.get(name)?.trim() ?? ""}\n`
  );
  const canonical = [
    request.method,
    canonicalPath,
    query,
    canonicalHeaders.join(""),
    names,
    sha256(request.body),
  ].join("\n");
  const text = ["AWS4-HMAC-SHA256", date, `${day}/${region}/${service}/aws4_request`, sha256(canonical)].join(
    "\n",
  );
  const key = ["aws4_request"].reduce(
    (k, part) => hmac(k, part),
    hmac(hmac(hmac(`AWS4${secretAccessKey}`, day), region), service),
  );
  return hmac(key, text).toString("hex") === signature ? null : `another signature is right for ${canonical}`;
}

function strictly(segment: string): string {
  return encodeURIComponent(segment).replace(
    /[!'()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
