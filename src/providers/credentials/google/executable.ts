/** Identity tokens that a program prints: `credential_source.executable` of a credentials file (AIP-4117). */
import { isObject, type Loose, number, object, parse, string } from "../../../exchange/json.ts";
import { outputOf } from "../program.ts";
import { variable } from "../surroundings.ts";
import { needed, TokenError } from "../token_service.ts";
import type { GoogleContext } from "./context.ts";

const NAME = "the executable of the credentials file";
const FILE = "the credentials file";
const USUAL_MS = 30_000;
const LEAST_MS = 5000;
const MOST_MS = 120_000;

const TOKEN_TYPE = "urn:ietf:params:oauth:token-type:";
/** The form of error codes; anything else may repeat parts of a token. */
const ERROR_CODE = /^[\w.-]{1,64}$/;

/** @param file the credentials file, parsed */
export async function executableSubjectToken(
  file: Loose,
  { surroundings, clock }: GoogleContext,
): Promise<string> {
  const source = object(object(file.credential_source).executable);
  const command = needed(source, "command", FILE);
  if (variable(surroundings, "GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES") !== "1") {
    throw new TokenError(
      "the credentials file names a program, which runs only with GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES=1",
    );
  }
  const output = string(source.output_file);
  if (output !== undefined) {
    const kept = parse(await surroundings.readText(output).catch(() => ""));
    const isValid = isObject(kept) && kept.success === true && !hasEnded(kept, clock.now());
    if (isValid) return tokenIn(kept);
  }
  const account = /\/serviceAccounts\/([^/:]+):/.exec(string(file.service_account_impersonation_url) ?? "")
    ?.[1];
  const env: Record<string, string> = {
    GOOGLE_EXTERNAL_ACCOUNT_AUDIENCE: needed(file, "audience", FILE),
    GOOGLE_EXTERNAL_ACCOUNT_TOKEN_TYPE: needed(file, "subject_token_type", FILE),
    GOOGLE_EXTERNAL_ACCOUNT_INTERACTIVE: "0",
    ...(account !== undefined && { GOOGLE_EXTERNAL_ACCOUNT_IMPERSONATED_EMAIL: account }),
    ...(output !== undefined && { GOOGLE_EXTERNAL_ACCOUNT_OUTPUT_FILE: output }),
  };
  const within = Math.min(MOST_MS, Math.max(LEAST_MS, number(source.timeout_millis) ?? USUAL_MS));
  const printed = parse(await outputOf(command, { name: NAME, env, within }, surroundings));
  if (!isObject(printed)) throw new TokenError(`${NAME} printed no JSON object`);
  if (printed.success !== true) {
    const code = string(printed.code) ?? "";
    throw new TokenError(`${NAME} has failed${ERROR_CODE.test(code) ? ` (${code})` : ""}`);
  }
  if (hasEnded(printed, clock.now())) throw new TokenError(`${NAME} printed a token that has expired`);
  return tokenIn(printed);
}

function hasEnded({ expiration_time: seconds }: Loose, now: number): boolean {
  return typeof seconds === "number" && seconds * 1000 <= now;
}

function tokenIn(printed: Loose): string {
  if (printed.version !== 1) throw new TokenError(`${NAME} printed no document of version 1`);
  const type = string(printed.token_type)?.replace(TOKEN_TYPE, "");
  return needed(printed, type === "saml2" ? "saml_response" : "id_token", NAME);
}
