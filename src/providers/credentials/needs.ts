/** What each kind of credential reads on the machine, for starting the process with minimal permissions. */
import { inHome, type Surroundings, variable } from "./surroundings.ts";
import type { AuthSettings } from "./open_credential.ts";

export interface CredentialNeeds {
  /** Environment variables. */
  variables: readonly string[];
  /** Those of the variables that contain a file path. */
  files: readonly string[];
  /** Files and folders in the user's home folder. */
  home: readonly string[];
}

const NOTHING: CredentialNeeds = { variables: [], files: [], home: [] };
/** Variables with the user's home folder. */
const HOME = ["HOME", "USERPROFILE"];

export const CREDENTIAL_NEEDS: Readonly<Record<AuthSettings["type"], CredentialNeeds>> = {
  key: NOTHING,
  none: NOTHING,
  aws: {
    variables: [
      ...HOME,
      "AWS_ACCESS_KEY_ID",
      "AWS_BEARER_TOKEN_BEDROCK",
      "AWS_CONFIG_FILE",
      "AWS_CONTAINER_AUTHORIZATION_TOKEN",
      "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
      "AWS_CONTAINER_CREDENTIALS_FULL_URI",
      "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
      "AWS_DEFAULT_REGION",
      "AWS_EC2_METADATA_DISABLED",
      "AWS_EC2_METADATA_SERVICE_ENDPOINT",
      "AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE",
      "AWS_ENDPOINT_URL",
      "AWS_ENDPOINT_URL_BEDROCK",
      "AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
      "AWS_ENDPOINT_URL_SIGNIN",
      "AWS_ENDPOINT_URL_SSO",
      "AWS_ENDPOINT_URL_SSO_OIDC",
      "AWS_ENDPOINT_URL_STS",
      "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS",
      "AWS_LOGIN_CACHE_DIRECTORY",
      "AWS_PROFILE",
      "AWS_REGION",
      "AWS_ROLE_ARN",
      "AWS_ROLE_SESSION_NAME",
      "AWS_SECRET_ACCESS_KEY",
      "AWS_SESSION_TOKEN",
      "AWS_SHARED_CREDENTIALS_FILE",
      "AWS_USE_DUALSTACK_ENDPOINT",
      "AWS_USE_FIPS_ENDPOINT",
      "AWS_WEB_IDENTITY_TOKEN_FILE",
    ],
    files: [
      "AWS_CONFIG_FILE",
      "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
      "AWS_LOGIN_CACHE_DIRECTORY",
      "AWS_SHARED_CREDENTIALS_FILE",
      "AWS_WEB_IDENTITY_TOKEN_FILE",
    ],
    home: [".aws"],
  },
  google: {
    variables: [
      ...HOME,
      // Of an AWS identity in Google's workload identity federation.
      "AWS_ACCESS_KEY_ID",
      "AWS_DEFAULT_REGION",
      "AWS_REGION",
      "AWS_SECRET_ACCESS_KEY",
      "AWS_SESSION_TOKEN",
      "CLOUDSDK_CONFIG",
      "GCE_METADATA_HOST",
      "GCE_METADATA_ROOT",
      "GOOGLE_APPLICATION_CREDENTIALS",
      "GOOGLE_CLOUD_QUOTA_PROJECT",
      "GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES",
    ],
    files: ["CLOUDSDK_CONFIG", "GOOGLE_APPLICATION_CREDENTIALS"],
    home: [".config/gcloud"],
  },
  azure: {
    variables: [
      "AZURE_AUTHORITY_HOST",
      "AZURE_CLIENT_CERTIFICATE_PASSWORD",
      "AZURE_CLIENT_CERTIFICATE_PATH",
      "AZURE_CLIENT_ID",
      "AZURE_CLIENT_SECRET",
      "AZURE_CLIENT_SEND_CERTIFICATE_CHAIN",
      "AZURE_FEDERATED_TOKEN_FILE",
      "AZURE_POD_IDENTITY_AUTHORITY_HOST",
      "AZURE_TENANT_ID",
      "DEFAULT_IDENTITY_CLIENT_ID",
      "IDENTITY_ENDPOINT",
      "IDENTITY_HEADER",
      "IMDS_ENDPOINT",
      "MSI_ENDPOINT",
      "MSI_SECRET",
    ],
    files: ["AZURE_CLIENT_CERTIFICATE_PATH", "AZURE_FEDERATED_TOKEN_FILE"],
    home: [],
  },
};

/** The paths of these files on this machine. */
export function filesOf({ files, home }: CredentialNeeds, env: Surroundings["env"]): string[] {
  const surroundings = { env };
  return [
    ...files.map((name) => {
      const path = variable(surroundings, name);
      return path?.startsWith("~/") ? inHome(surroundings, path.slice(2)) : path;
    }),
    ...home.map((path) => inHome(surroundings, path)),
  ].filter((path) => typeof path === "string");
}
