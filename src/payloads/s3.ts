/**
 * Payloads as objects of S3-compatible storage, with the bucket in the path of the URL. Requests are signed
 * for the host that is called. Redirects are not followed, since they would send the payload elsewhere.
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
  /** Empty, or ends with a slash. */
  prefix: string;
  /** Without a trailing slash. */
  endpoint: string;
  region: string;
  keys(): Promise<S3Keys>;
  /** Timeout of a request in milliseconds. */
  answerMs?: number;
}

const ANSWER_MS = 30_000;
/** Size limit of one encrypted payload. */
const MOST_BYTES = 256 << 20;
/**
 * Bytes that are read of a response of which only the status is used: reading it allows the connection to be
 * reused.
 */
const MOST_UNREAD_BYTES = 16 << 10;
/**
 * Size limit of one page of a list: days, or names of the gateway's objects, some 400 bytes each with their
 * metadata.
 */
const MOST_LIST_BYTES = 2 << 20;
/** Entries on one page, which is the limit of S3. */
const MOST_LISTED = 1000;
const REMOVED_AT_ONCE = 200;
const SIDE_BY_SIDE = 8;
/** A list of days with more pages is assumed to repeat endlessly. */
const MOST_PAGES = 1000;

/** Payloads as objects of a bucket. Requests are signed with AWS Signature Version 4. */
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
      // The hash of the body: without it the signature does not protect the body.
      headers: { "x-amz-content-sha256": await hashOf(body) },
      service: "s3",
      region,
      cache,
    }).sign();
    return await ask(signed.url.href, {
      method,
      headers: Object.fromEntries(signed.headers),
      body,
      // The text of an error may contain sensitive names, so it is not used.
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
      const old = await oldestDay(send, prefix);
      if (old === null || old >= day) return false;
      const within = `${prefix}${old}/`;
      const listed = await page(send, { prefix: within, "max-keys": String(REMOVED_AT_ONCE) });
      // Names outside the folder of the day are ignored, including those with `..`, whatever the storage
      // lists.
      const names = inTags(listed, "Contents").flatMap((inner) => inTags(inner, "Key")).filter((name) =>
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

/** Null: there is none. Only the oldest day is kept in memory, since a storage may list any number. */
async function oldestDay(send: Send, prefix: string): Promise<string | null> {
  let oldest: string | null = null;
  let token: string | undefined;
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const xml = await page(send, {
      prefix,
      delimiter: "/",
      ...(token !== undefined && { "continuation-token": token }),
    });
    for (const found of inTags(xml, "CommonPrefixes").flatMap((inner) => inTags(inner, "Prefix"))) {
      const name = found.slice(prefix.length, -1);
      if (DAY.test(name) && (oldest === null || name < oldest)) oldest = name;
    }
    token = inTags(xml, "NextContinuationToken")[0];
    if (token === undefined) return oldest;
  }
  throw new Error(`the storage's list does not end within ${MOST_PAGES} pages`);
}

async function page(send: Send, query: Record<string, string>): Promise<string> {
  const answer = await send("GET", "", { query: { "list-type": "2", ...query }, most: MOST_LIST_BYTES });
  taken(answer);
  return answer.text();
}

/** The contents of all elements with a name, which must not be nested in each other. The text is scanned once. */
export function inTags(xml: string, name: string): string[] {
  const open = `<${name}>`;
  const close = `</${name}>`;
  const found: string[] = [];
  for (let at = xml.indexOf(open); at >= 0 && found.length < MOST_LISTED; at = xml.indexOf(open, at)) {
    const from = at + open.length;
    const to = xml.indexOf(close, from);
    if (to < 0) break;
    found.push(unescaped(xml.slice(from, to)));
    at = to + close.length;
  }
  return found;
}

function unescaped(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll(
    "&amp;",
    "&",
  );
}

/**
 * Throws if the response has an error status. Its text may contain sensitive names, so the message has only
 * the status.
 */
function taken({ ok, status }: Answer): void {
  if (!ok) throw new Error(`the storage answered with status ${status}`);
}

async function hashOf(body: Uint8Array<ArrayBuffer> | undefined): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", body ?? new Uint8Array())).toHex();
}
