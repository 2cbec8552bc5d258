/** Credentials in containers: ECS tasks and EKS Pod Identity. */
import { variable } from "../surroundings.ts";
import { askForJson, TokenError } from "../token_service.ts";
import { type AwsSource, keysOf } from "./keys.ts";
import type { AwsContext } from "./context.ts";

const SERVICE = "the container's credential service of AWS";

/** The host for relative URIs in ECS. */
const ECS = "http://169.254.170.2";

/** Undefined: not in such a container. */
export function containerSource({ surroundings, clock }: AwsContext): AwsSource | undefined {
  const relative = variable(surroundings, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
  const url = relative === undefined
    ? variable(surroundings, "AWS_CONTAINER_CREDENTIALS_FULL_URI")
    : ECS + relative;
  if (url === undefined) return undefined;
  return async () => {
    let authorization = variable(surroundings, "AWS_CONTAINER_AUTHORIZATION_TOKEN");
    const file = variable(surroundings, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
    if (file !== undefined) {
      try {
        authorization = (await surroundings.readText(file)).trim();
      } catch {
        throw new TokenError("the container's authorization token file cannot be read");
      }
    }
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
    return keysOf(await askForJson(url, { service: SERVICE, headers, clock }), SERVICE, clock);
  };
}
