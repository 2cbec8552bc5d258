/** Files and programs that the files of vendors' tools name, for starting the process with minimal permissions. */
import { object, parse, string } from "../../exchange/json.ts";
import { profileIn, sections, sharedPaths } from "../clouds/aws_files.ts";
import type { AuthSettings } from "./open_credential.ts";
import { wordsOf } from "./program.ts";
import { inHome, type Surroundings, variable } from "./surroundings.ts";

type Env = Surroundings["env"];

export interface Named {
  files: string[];
  /** As the operating system starts them: paths, or names that are looked up. */
  programs: string[];
}

/** What uses credentials in a configuration. */
export interface CredentialUsers {
  providers: readonly { auth: AuthSettings | { type: "key" } }[];
  payloads: { to: { kind: string } } | null;
}

/** What the files name with which a configuration gets its credentials. */
export function namedFor({ providers, payloads }: CredentialUsers, env: Env): Named {
  const all = [
    ...providers.map(({ auth }) => namedInFiles(auth, env)),
    ...(payloads?.to.kind === "s3" ? [ofProfiles(null, env)] : []),
  ];
  return { files: all.flatMap(({ files }) => files), programs: all.flatMap(({ programs }) => programs) };
}

/** Maximum length of a chain of source profiles. */
const MOST_PROFILES = 5;

function namedInFiles(auth: AuthSettings | { type: "key" }, env: Env): Named {
  switch (auth.type) {
    case "aws":
      return ofProfiles(auth.profile, env);
    case "google":
      return ofGoogle(auth.credentialsFile, env);
    case "azure":
      // The agent of Azure Arc names a file in its folder.
      return { files: env("IMDS_ENDPOINT") ? ["/var/opt/azcmagent/tokens"] : [], programs: [] };
    case "key":
    case "none":
      return { files: [], programs: [] };
  }
}

function ofProfiles(named: string | null, env: Env): Named {
  const paths = sharedPaths({ env });
  const files = { config: sections(textOf(paths.config)), credentials: sections(textOf(paths.credentials)) };
  const found: Named = { files: [], programs: [] };
  let name: string | undefined = named ?? variable({ env }, "AWS_PROFILE") ?? "default";
  for (let depth = 0; name !== undefined && depth < MOST_PROFILES; depth++) {
    const profile = profileIn(files, name);
    const [program] = wordsOf(profile?.get("credential_process") ?? "") ?? [];
    if (program !== undefined) found.programs.push(program);
    const token = profile?.get("web_identity_token_file");
    if (token !== undefined) found.files.push(token);
    name = profile?.get("source_profile");
  }
  return found;
}

function ofGoogle(named: string | null, env: Env): Named {
  const folder = variable({ env }, "CLOUDSDK_CONFIG") ?? inHome({ env }, ".config/gcloud");
  const path = named ?? variable({ env }, "GOOGLE_APPLICATION_CREDENTIALS") ??
    (folder === null ? null : `${folder}/application_default_credentials.json`);
  const file = object(parse(textOf(path)));
  const found: Named = { files: [], programs: [] };
  for (const account of [file, object(file.source_credentials)]) {
    const source = object(account.credential_source);
    const executable = object(source.executable);
    const [program] = wordsOf(string(executable.command) ?? "") ?? [];
    if (program !== undefined && env("GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES") === "1") {
      found.programs.push(program);
    }
    found.files.push(...[source.file, executable.output_file].filter((path) => typeof path === "string"));
  }
  return found;
}

/** "" if it cannot be read. */
function textOf(path: string | null): string {
  try {
    return path === null ? "" : Deno.readTextFileSync(path);
  } catch {
    return "";
  }
}
