/**
 * Payloads as objects of S3-compatible storage, its bucket in the path of the address. Requests are signed for the host that
 * is called; redirects, which would take the object elsewhere, are not followed.
 */
import type { AwsV4Signer } from "aws4fetch";
import { type Answer, ask } from "../outgoing/ask.ts";
import { DAY, nameOf, type PayloadStorage } from "./storage.ts";

export interface S3Keys {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

export interface S3Options {
  place: string;
  bucket: string;
  /** Empty, or ends in a slash. */
  prefix: string;
  /** Without a slash at its end. */
  endpoint: string;
  region: string;
  keys(): Promise<S3Keys>;
  /** Milliseconds that the storage has for an answer. */
  answerMs?: number;
}

const ANSWER_MS = 30_000;
/** Of one payload, packed. */
const MOST_BYTES = 256 << 20;
/** Of an answer that says nothing but its status: to read it keeps the connection. */
const MOST_UNREAD_BYTES = 16 << 10;
/** Of one page of a list, which has a thousand names at most. */
const MOST_LIST_BYTES = 8 << 20;
const REMOVED_AT_ONCE = 200;
const SIDE_BY_SIDE = 8;
/** A list of days that has more goes round in circles. */
const MOST_PAGES = 1000;

export function openS3(options: S3Options): PayloadStorage {
  const { place, bucket, prefix, endpoint, region, keys, answerMs = ANSWER_MS } = options;
  let signer: typeof AwsV4Signer | undefined;
  const cache = new Map<string, ArrayBuffer>();

  async function send(
    method: string,
    path: string,
    { body, query = {}, most = 0 }: {
      body?: Uint8Array<ArrayBuffer>;
      query?: Record<string, string>;
      most?: number;
    } = {},
  ): Promise<Answer> {
    signer ??= (await import("aws4fetch")).AwsV4Signer;
    const url = new URL(`${endpoint}/${bucket}${path === "" ? "" : `/${path}`}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    if (cache.size > 100) cache.clear();
    const signed = await new signer({
      ...await keys(),
      method,
      url: url.href,
      body,
      // Of the body itself: without it the storage takes whatever arrives.
      headers: { "x-amz-content-sha256": await hashOf(body) },
      service: "s3",
      region,
      cache,
    }).sign();
    return await ask(signed.url.href, {
      method,
      headers: Object.fromEntries(signed.headers),
      body,
      // What it says of errors may name what nobody should read.
      ...(most > 0 ? { most } : { most: MOST_UNREAD_BYTES, cuts: true }),
      signal: AbortSignal.timeout(answerMs),
    });
  }

  return {
    place,
    async put(id, content) {
      taken(await send("PUT", prefix + nameOf(id), { body: content }));
    },
    async get(id) {
      const answer = await send("GET", prefix + nameOf(id), { most: MOST_BYTES });
      if (answer.status === 404) return null;
      taken(answer);
      return answer.bytes;
    },
    async removeBefore(day) {
      const days = await list(send, { prefix, delimiter: "/" });
      const old = days.prefixes.map((found) => found.slice(prefix.length, -1))
        .filter((name) => DAY.test(name) && name < day).sort()[0];
      if (old === undefined) return false;
      const within = `${prefix}${old}/`;
      const listed = await list(send, { prefix: within, "max-keys": String(REMOVED_AT_ONCE) });
      // Whatever the storage names, nothing beside the day is deleted: steps upwards lead out of it.
      const names = listed.names.filter((name) =>
        name.startsWith(within) && !/(?:^|\/)\.\.?(?:\/|$)/.test(name)
      );
      for (let at = 0; at < names.length; at += SIDE_BY_SIDE) {
        await Promise.all(
          names.slice(at, at + SIDE_BY_SIDE).map(async (name) => {
            const answer = await send("DELETE", name);
            if (answer.status !== 404) taken(answer);
          }),
        );
      }
      return names.length > 0;
    },
  };
}

type Send = (
  method: string,
  path: string,
  options: { query: Record<string, string>; most: number },
) => Promise<Answer>;

async function list(
  send: Send,
  query: Record<string, string>,
): Promise<{ names: string[]; prefixes: string[] }> {
  const names: string[] = [];
  const prefixes: string[] = [];
  let token: string | undefined;
  for (let page = 0; page < MOST_PAGES; page++) {
    const answer = await send("GET", "", {
      query: { "list-type": "2", ...query, ...(token !== undefined && { "continuation-token": token }) },
      most: MOST_LIST_BYTES,
    });
    taken(answer);
    const xml = answer.text();
    prefixes.push(...inTags(xml, "CommonPrefixes").flatMap((inner) => inTags(inner, "Prefix")));
    names.push(...inTags(xml, "Contents").flatMap((inner) => inTags(inner, "Key")));
    token = query["max-keys"] === undefined ? inTags(xml, "NextContinuationToken")[0] : undefined;
    if (token === undefined) return { names, prefixes };
  }
  throw new Error(`the storage's list does not end within ${MOST_PAGES} pages`);
}

/** What stands between the tags of a name, whose elements hold none of the same name. */
function inTags(xml: string, name: string): string[] {
  return Array.from(
    xml.matchAll(new RegExp(`<${name}>([^]*?)</${name}>`, "g")),
    ([, inner]) =>
      inner.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll(
        "&amp;",
        "&",
      ),
  );
}

/** Ends with the response's status, if it is an error: its text may name what nobody should read. */
function taken({ ok, status }: Answer): void {
  if (!ok) throw new Error(`the storage answered with status ${status}`);
}

async function hashOf(body: Uint8Array<ArrayBuffer> | undefined): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", body ?? new Uint8Array())).toHex();
}
