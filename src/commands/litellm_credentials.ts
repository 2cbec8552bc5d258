/** Converts the place, the credentials and the headers of a LiteLLM deployment to fields of a provider. */
import { isObject, type Loose } from "../exchange/json.ts";

interface CredentialFields {
  preset: string;
  type: string;
  /** Fields of `auth` by names of LiteLLM. */
  names: Readonly<Record<string, string>>;
}

const CREDENTIALS: readonly CredentialFields[] = [
  {
    preset: "bedrock",
    type: "aws",
    names: {
      aws_access_key_id: "access_key_id",
      aws_secret_access_key: "secret_access_key",
      aws_session_token: "session_token",
      aws_profile_name: "profile",
      aws_role_name: "role_arn",
      aws_external_id: "external_id",
    },
  },
  { preset: "vertex", type: "google", names: { vertex_credentials: "credentials_file" } },
  {
    preset: "azure",
    type: "azure",
    names: {
      tenant_id: "tenant_id",
      client_id: "client_id",
      client_secret: "client_secret",
      azure_scope: "scope",
    },
  },
];
/** Fields of a cloud's provider by names of LiteLLM. */
const PLACES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  bedrock: { aws_region_name: "region" },
  vertex: { vertex_project: "project", vertex_location: "location" },
};
const SECRET = /secret|token/;

/** `os.environ/NAME` is the variable `${NAME}`. */
export function written(text: string): string {
  const name = /^os\.environ\/(\w+)$/.exec(text)?.[1];
  return name === undefined ? text : `\${${name}}`;
}

export interface Access {
  /** `auth`, `headers` and the place of the provider. */
  fields: Loose;
  /** The parameters that they contain. */
  taken: readonly string[];
  /** Whether a secret is written literally. */
  literal: boolean;
}

export function accessOf(preset: string, params: Loose): Access {
  const taken: string[] = [];
  const place: Loose = {};
  for (const [theirs, ours] of Object.entries(PLACES[preset] ?? {})) {
    if (typeof params[theirs] !== "string") continue;
    place[ours] = written(params[theirs]);
    taken.push(theirs);
  }
  const auth: Loose = {};
  const { type, names = {} } = CREDENTIALS.find((known) => known.preset === preset) ?? {};
  for (const [theirs, ours] of Object.entries(names)) {
    const value = params[theirs];
    // Credentials of Google may also be written as JSON, which the provider reads only from a file.
    if (typeof value !== "string" || value === "" || value.trimStart().startsWith("{")) continue;
    auth[ours] = written(value);
    taken.push(theirs);
  }
  const headers: Loose = {};
  for (const name of ["headers", "extra_headers"]) {
    const entries = isObject(params[name]) ? Object.entries(params[name]) : [];
    if (entries.length === 0 || entries.some(([, value]) => typeof value !== "string")) continue;
    for (const [header, value] of entries) headers[header] = written(value as string);
    taken.push(name);
  }
  if (preset === "openai" && typeof params.organization === "string") {
    headers["openai-organization"] = written(params.organization);
    taken.push("organization");
  }
  return {
    fields: {
      ...place,
      ...(Object.keys(auth).length > 0 && { auth: { type, ...auth } }),
      ...(Object.keys(headers).length > 0 && { headers }),
    },
    taken,
    literal: Object.entries(auth).some(([name, value]) =>
      SECRET.test(name) && !/^\$\{/.test(value as string)
    ),
  };
}
