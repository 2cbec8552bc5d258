/**
 * The configuration section `payloads`: where requests and answers are stored, with which key they are
 * encrypted, and for how long they are kept.
 */
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

/** Null: invalid. */
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

/** Roles that can be allowed to read payloads. */
const READERS = ["owner", "operator", "auditor"] as const;

export const PAYLOADS = fields({
  to: stringField(PLACE).refine((text) => placeOf(text) !== null, says(PLACE))
    .transform((text) => placeOf(text) ?? { kind: "file" as const, folder: "" })
    .describe("Where payloads are stored: a folder on this machine, or a bucket of S3-compatible storage."),
  key: new Field(() => {
    const one = key().schema;
    return z.union([
      one,
      z.array(one, says(KEYS)).check(z.minLength(1, says(KEYS)), z.maxLength(16, says(KEYS))),
    ], says(KEYS));
  })
    .transform((keys) => typeof keys === "string" ? [keys] : keys)
    .describe(
      "Secret with which payloads are encrypted. If it is a list, the first secret encrypts and all secrets decrypt, so that the secret can be changed.",
    ),
  retention_days: whole(1, 3650).prefault(30).describe("Number of days (UTC) for which payloads are stored."),
  readers: listOf(choice(...READERS), "roles").prefault(["owner"])
    .describe("Roles that may read payloads. Every read access is written to the audit log."),
  queue_bytes: whole(1 << 20, 2 ** 32).prefault(64 << 20).describe(
    "Maximum size of the payloads that wait to be written, in bytes. Further payloads are not stored; a metric counts them.",
  ),
  endpoint: urlOrNone().prefault("").describe(
    "URL of the S3 storage; the bucket is part of the path. Empty: `AWS_ENDPOINT_URL_S3`, else the AWS endpoint of the region.",
  ),
  region: nonBlank(64, "a region").nullable().prefault(null).describe(
    "Region for which requests are signed. Null: `AWS_REGION`, else `us-east-1`.",
  ),
  access_key_id: headerValue().nullable().prefault(null).describe(
    "Access key id for the storage. Null: the credential sources of AWS, in the order of its SDKs.",
  ),
  secret_access_key: headerValue().nullable().prefault(null).describe(
    "Secret access key of `access_key_id`.",
  ),
}).superRefine(({ to, endpoint, region, accessKeyId, secretAccessKey }, context) => {
  const wrong = (path: string, message: string, input: unknown) =>
    context.addIssue({ code: "custom", path: [path], message, input });
  if (to.kind === "file") {
    const ofStorage = {
      endpoint: endpoint || null,
      region,
      access_key_id: accessKeyId,
      secret_access_key: secretAccessKey,
    };
    for (const [path, input] of Object.entries(ofStorage)) {
      if (input !== null) wrong(path, "no value, as `to` is a folder (only s3:// has one)", input);
    }
  } else if ((accessKeyId === null) !== (secretAccessKey === null)) {
    wrong("access_key_id", "both access_key_id and secret_access_key, or neither", accessKeyId);
  }
});

export type PayloadsConfig = Value<typeof PAYLOADS>;
