/** The field `auth` of a provider: the source of its credential. */
import { choice, fields, headerValue, matching, nonBlank } from "../../schema/fields.ts";
import type { AuthSettings } from "./open_credential.ts";

const name = (what: string) => nonBlank(256, what).nullable().prefault(null);
const secret = (what: string) =>
  matching(/^[!-~]{1,8192}$/, `${what} in printable ASCII`).nullable().prefault(null);

/** The fields of each kind, besides `type`. */
const FIELDS_OF_TYPE: Readonly<Record<string, readonly string[]>> = {
  key: [],
  none: [],
  aws: [
    "region",
    "service",
    "profile",
    "roleArn",
    "externalId",
    "accessKeyId",
    "secretAccessKey",
    "sessionToken",
  ],
  google: ["credentialsFile"],
  azure: ["scope", "tenantId", "clientId", "clientSecret"],
};

const ENTRA_SCOPE = "https://cognitiveservices.azure.com/.default";

/** Without the key, which is in `api_key`. */
export type Auth = Exclude<AuthSettings, { type: "key" }> | { type: "key" };

export const AUTH = fields({
  type: choice("key", "none", "aws", "google", "azure").describe(
    "Type of the credential. `key`: the field `api_key`. `none`: no credential is sent. `aws`: requests are signed, or a Bedrock API key is sent. `google`, `azure`: access tokens. Keys and tokens come from the same sources as in the vendors' SDKs: environment variables, files, and the role of the machine.",
  ),
  region: name("the name of a region").describe(
    "For `aws`: region for which requests are signed. Null: `AWS_REGION`, `AWS_DEFAULT_REGION`.",
  ),
  service: matching(/^[a-z][a-z\d-]{0,63}$/, 'the name of an AWS service like "bedrock"').prefault(
    "bedrock",
  )
    .describe("For `aws`: service for which requests are signed."),
  profile: name("the name of a profile").describe(
    "For `aws`: profile in the shared AWS configuration files. Null: `AWS_PROFILE`, if the environment contains no keys.",
  ),
  role_arn: name("the ARN of a role").describe(
    "For `aws`: ARN of a role that is assumed with the credential.",
  ),
  external_id: name("an external id").describe("For `aws`: external id that the role requires."),
  access_key_id: name("an access key id").describe(
    "For `aws`: access key id. Null: the other sources of AWS credentials, which the manual's page Providers lists.",
  ),
  secret_access_key: secret("a secret access key").describe(
    "For `aws`: secret access key of `access_key_id`.",
  ),
  session_token: secret("a session token").describe("For `aws`: session token of temporary keys."),
  credentials_file: name("the path of a file").describe(
    "For `google`: path of a credentials file. Null: `GOOGLE_APPLICATION_CREDENTIALS`, the credentials file of gcloud, or the metadata server.",
  ),
  scope: headerValue().prefault(ENTRA_SCOPE).describe("For `azure`: scope of the access tokens."),
  tenant_id: name("the id of a tenant").describe("For `azure`: tenant id. Null: `AZURE_TENANT_ID`."),
  client_id: name("the id of a client").describe("For `azure`: client id. Null: `AZURE_CLIENT_ID`."),
  client_secret: secret("a client secret").describe(
    "For `azure`: client secret. Null: `AZURE_CLIENT_SECRET`.",
  ),
}).superRefine((auth, context) => {
  const strays = Object.entries(auth).filter(([field, value]) =>
    field !== "type" && value !== null && value !== "bedrock" && value !== ENTRA_SCOPE &&
    !FIELDS_OF_TYPE[auth.type].includes(field)
  );
  const written = (field: string) => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const own = FIELDS_OF_TYPE[auth.type].map(written).join(", ");
  const message = `no value (auth of type ${auth.type} has ${
    own === "" ? "no further fields" : `only ${own}`
  })`;
  for (const [field, input] of strays) {
    context.addIssue({ code: "custom", path: [written(field)], input, message });
  }
  if ((auth.accessKeyId === null) !== (auth.secretAccessKey === null)) {
    const message = "both access_key_id and secret_access_key, or neither";
    context.addIssue({ code: "custom", path: ["access_key_id"], input: auth.accessKeyId, message });
  }
}).transform((auth): Auth => {
  const { type, accessKeyId, secretAccessKey, sessionToken, credentialsFile } = auth;
  switch (type) {
    case "key":
    case "none":
      return { type };
    case "google":
      return { type, credentialsFile };
    case "azure": {
      const { scope, tenantId, clientId, clientSecret } = auth;
      return { type, scope, tenantId, clientId, clientSecret };
    }
    case "aws": {
      const { region, service, profile, roleArn, externalId } = auth;
      const keys = accessKeyId !== null && secretAccessKey !== null
        ? { accessKeyId, secretAccessKey, sessionToken: sessionToken ?? undefined }
        : undefined;
      return { type, region, service, profile, roleArn, externalId, ...(keys && { keys }) };
    }
  }
});
