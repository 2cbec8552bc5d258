/** Storage like S3 on loopback: checks each signature, keeps objects by path, lists them in pages. */
import { AwsV4Signer } from "aws4fetch";

export const S3_KEYS = { access_key_id: "AKIDTEST", secret_access_key: "secret-of-storage" };

export interface S3Server {
  url: string;
  objects: Map<string, Uint8Array>;
  requests: string[];
  /** Answers instead, while it is set. */
  instead: (() => Response | Promise<Response>) | null;
  close(): Promise<void>;
}

export function s3Server(bucket: string): S3Server {
  const server: S3Server = {
    url: "",
    objects: new Map(),
    requests: [],
    instead: null,
    close: () => http.shutdown(),
  };
  const http = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const body = new Uint8Array(await request.arrayBuffer());
    const url = new URL(request.url);
    server.requests.push(`${request.method} ${url.pathname}`);
    if (server.instead) return await server.instead();
    if (!await isSigned(request, body)) {
      return new Response("<Error>SignatureDoesNotMatch</Error>", { status: 403 });
    }
    if (url.pathname === `/${bucket}`) return list(server.objects, url.searchParams);
    const key = decodeURIComponent(url.pathname.slice(bucket.length + 2));
    if (request.method === "PUT") {
      server.objects.set(key, body);
      return new Response(null, { status: 200 });
    }
    if (request.method === "DELETE") {
      server.objects.delete(key);
      return new Response(null, { status: 204 });
    }
    const found = server.objects.get(key);
    return found
      ? new Response(found as BodyInit)
      : new Response("<Error>NoSuchKey</Error>", { status: 404 });
  });
  server.url = `http://127.0.0.1:${http.addr.port}`;
  return server;
}

async function isSigned(request: Request, body: Uint8Array): Promise<boolean> {
  const sent = request.headers.get("authorization") ?? "";
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", body as BufferSource)).toHex();
  if (request.headers.get("x-amz-content-sha256") !== digest) return false;
  const signer = new AwsV4Signer({
    accessKeyId: S3_KEYS.access_key_id,
    secretAccessKey: S3_KEYS.secret_access_key,
    method: request.method,
    url: request.url,
    headers: { "x-amz-content-sha256": digest },
    body: body.length > 0 ? body as BodyInit : undefined,
    service: "s3",
    region: "eu-central-1",
    datetime: request.headers.get("x-amz-date") ?? "",
  });
  return (await signer.sign()).headers.get("authorization") === sent;
}

const PAGE = 3;

function list(objects: Map<string, Uint8Array>, query: URLSearchParams): Response {
  const prefix = query.get("prefix") ?? "";
  const delimiter = query.get("delimiter");
  const after = query.get("continuation-token") ?? "";
  const most = Math.min(Number(query.get("max-keys") ?? 1000), PAGE);
  const entries = new Set(
    [...objects.keys()].sort().filter((key) => key.startsWith(prefix)).map((key) => {
      const at = delimiter === null ? -1 : key.indexOf(delimiter, prefix.length);
      return at < 0 ? key : key.slice(0, at + 1);
    }),
  );
  const rest = [...entries].filter((entry) => entry > after);
  const page = rest.slice(0, most);
  const xml = page.map((entry) =>
    entry.endsWith("/")
      ? `<CommonPrefixes><Prefix>${entry}</Prefix></CommonPrefixes>`
      : `<Contents><Key>${entry.replaceAll("&", "&amp;")}</Key><Size>1</Size></Contents>`
  ).join("");
  const next = rest.length > most ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : "";
  return new Response(`<?xml version="1.0"?><ListBucketResult>${xml}${next}</ListBucketResult>`);
}
