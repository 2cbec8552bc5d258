/** The section `payloads` of the configuration: where requests and answers are kept, under which key, and for how long. */
import { z } from "zod/mini";
import {
  choice,
  Field,
  fields,
  headerValue,
  listOf,
  nonBlank,
  says,
  stringField,
  urlOrNone,
  type Value,
  whole,
} from "../schema/fields.ts";

const PLACE = "file:FOLDER or s3://BUCKET or s3://BUCKET/PREFIX";
const S3 = /^s3:\/\/([a-z0-9][a-z0-9._-]{1,61}[a-z0-9])(?:\/([\w!.*'()\/-]*))?$/i;

export type PayloadPlace =
  | { kind: "file"; folder: string }
  | { kind: "s3"; bucket: string; prefix: string };

/** Null: it is none. */
function placeOf(text: string): PayloadPlace | null {
  if (text.startsWith("file:")) {
    const folder = text.slice("file:".length).replace(/^\/\/(?=\/)/, "");
    return folder.trim() === "" || folder.includes("\0") ? null : { kind: "file", folder };
  }
  const match = S3.exec(text);
  if (match === null) return null;
  const steps = (match[2] ?? "").split("/").filter((step) => step !== "");
  if (steps.some((step) => step === "." || step === "..")) return null;
  return { kind: "s3", bucket: match[1], prefix: steps.map((step) => `${step}/`).join("") };
}

const LEAST_KEY = 16;
const KEY = `a secret of ${LEAST_KEY} to 1024 characters`;
const KEYS = `${KEY}, or a list of 1 to 16 of them`;

const key = () =>
  stringField(KEY).refine((text) => text.trim().length >= LEAST_KEY && text.length <= 1024, says(KEY));

/** Roles that may be let read. */
const READERS = ["owner", "operator", "auditor"] as const;

export const PAYLOADS = fields({
  to: stringField(PLACE).refine((text) => placeOf(text) !== null, says(PLACE))
    .transform((text) => placeOf(text) ?? { kind: "file" as const, folder: "" })
    .describe("Where payloads are kept: a folder of this machine, or a bucket of S3-compatible storage."),
  key: new Field(() => {
    const one = key().schema;
    return z.union([
      one,
      z.array(one, says(KEYS)).check(z.minLength(1, says(KEYS)), z.maxLength(16, says(KEYS))),
    ], says(KEYS));
  })
    .transform((keys) => typeof keys === "string" ? [keys] : keys)
    .describe(
      "Secret that payloads are encrypted with. Of a list the first encrypts and all decrypt, so that keys can be changed.",
    ),
  retention_days: whole(1, 3650).prefault(30).describe(
    "Days that payloads are kept, in UTC; then their folders or objects are deleted.",
  ),
  readers: listOf(choice(...READERS), "roles").prefault(["owner"])
    .describe("Roles that may read payloads. Each reading goes into the audit log."),
  queue_bytes: whole(1 << 20, 2 ** 32).prefault(64 << 20).describe(
    "Bytes of payloads that may wait to be written; what comes beyond is not kept, and counted.",
  ),
  endpoint: urlOrNone().prefault("").describe(
    "Address of the storage, with its bucket in the path. Empty: AWS_ENDPOINT_URL_S3, else that of AWS in the region.",
  ),
  region: nonBlank(64, "a region").nullable().prefault(null).describe(
    "Region that requests are signed for. Null: AWS_REGION, else us-east-1.",
  ),
  access_key_id: headerValue().nullable().prefault(null).describe(
    "Key id for the storage. Null: the sources of AWS, in the order of its own libraries.",
  ),
  secret_access_key: headerValue().nullable().prefault(null).describe(
    "Secret that belongs to `access_key_id`.",
  ),
});

export type PayloadsConfig = Value<typeof PAYLOADS>;
