/**
 * Where AWS's services are, where the configuration of a provider does not say it: by variables, and by the profile of the shared
 * files. Read while the configuration is, so that files are read at once.
 */
import { variable } from "../credentials/surroundings.ts";
import { profileIn, sections, sharedPaths } from "./aws_files.ts";
import type { Env } from "./cloud.ts";

/** What a profile says of places. */
export interface ProfilePlaces {
  region?: string;
  /** Address of Bedrock, or of all services. */
  endpoint?: string;
  /** "true": hosts of that kind are called. By the variables that say the same. */
  AWS_USE_FIPS_ENDPOINT?: string;
  AWS_USE_DUALSTACK_ENDPOINT?: string;
}

/** @param named the profile; undefined: the one of AWS_PROFILE, else `default` */
export function placesOfProfile(env: Env, named: string | undefined): ProfilePlaces {
  const surroundings = { env };
  const paths = sharedPaths(surroundings);
  const config = readIfThere(paths.config);
  const files = { config, credentials: readIfThere(paths.credentials) };
  const profile = profileIn(files, named ?? variable(surroundings, "AWS_PROFILE") ?? "default");
  const services = profile?.get("services");
  return {
    region: profile?.get("region"),
    endpoint: config.get(`services ${services}`)?.get("bedrock_runtime.endpoint_url") ??
      profile?.get("endpoint_url"),
    AWS_USE_FIPS_ENDPOINT: profile?.get("use_fips_endpoint"),
    AWS_USE_DUALSTACK_ENDPOINT: profile?.get("use_dualstack_endpoint"),
  };
}

function readIfThere(path: string | null): ReturnType<typeof sections> {
  try {
    return sections(path === null ? "" : Deno.readTextFileSync(path));
  } catch {
    return new Map();
  }
}

/** Which kinds of hosts are wanted: those that are certified by FIPS 140, those that IPv6 reaches too. */
export function wantedHosts(said: Env): { fips: boolean; dualStack: boolean } {
  const wanted = (name: string) => /^true$/i.test(said(name) ?? "");
  return { fips: wanted("AWS_USE_FIPS_ENDPOINT"), dualStack: wanted("AWS_USE_DUALSTACK_ENDPOINT") };
}

/** Whether addresses of variables and files are to be passed over. */
export function ignoresEndpoints(env: Env): boolean {
  return /^true$/i.test(env("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS") ?? "");
}

/** Where Bedrock's models are listed by a variable, for one that is called at this address; undefined: none says it. */
export function namedListsOf(baseUrl: string, env: Env): string | undefined {
  if (ignoresEndpoints(env)) return undefined;
  const bare = (url: string | undefined) => url?.replace(/\/+$/, "");
  const own = bare(env("AWS_ENDPOINT_URL_BEDROCK"));
  if (RUNTIME_HOST.test(baseUrl)) return own;
  // An address of the file is that of all doors, one of a variable that of its service alone.
  const named = bare(env("AWS_ENDPOINT_URL_BEDROCK_RUNTIME") || undefined);
  return named === baseUrl ? own || bare(env("AWS_ENDPOINT_URL")) || undefined : undefined;
}

/** Hosts of AWS's that models are called at: public ones, and endpoints of a private network. */
const RUNTIME_HOST = /^https:\/\/(?:vpce-[\w-]+\.)?bedrock-runtime(?:-fips)?\.[\w-]+\./;

/** The address of the token service. */
export function stsAddress(env: Env, region: string): string {
  const named = ignoresEndpoints(env)
    ? undefined
    : variable({ env }, "AWS_ENDPOINT_URL_STS", "AWS_ENDPOINT_URL");
  const { fips, dualStack } = wantedHosts(env);
  // In the government's regions the usual host is certified as well.
  const host = fips && (dualStack || !region.startsWith("us-gov-")) ? "sts-fips" : "sts";
  const domain = domainOf(region, dualStack ? "dualStack" : "usual");
  return (named ?? `https://${host}.${region}.${domain}`).replace(/\/*$/, "/");
}

/** Of a partition of AWS: what hosts of its regions end in, and what those end in that IPv6 reaches too. */
interface Domains {
  usual: string;
  dualStack: string;
}

const COMMERCIAL: Domains = { usual: "amazonaws.com", dualStack: "api.aws" };

/** By the beginning of a region's name. */
const OTHERS: readonly (readonly [string, Domains])[] = [
  ["cn-", { usual: "amazonaws.com.cn", dualStack: "api.amazonwebservices.com.cn" }],
  ["eusc-", { usual: "amazonaws.eu", dualStack: "api.amazonwebservices.eu" }],
  ["us-iso-", { usual: "c2s.ic.gov", dualStack: "api.aws.ic.gov" }],
  ["us-isob-", { usual: "sc2s.sgov.gov", dualStack: "api.aws.scloud" }],
  ["eu-isoe-", { usual: "cloud.adc-e.uk", dualStack: "api.cloud-aws.adc-e.uk" }],
  ["us-isof-", { usual: "csp.hci.ic.gov", dualStack: "api.aws.hci.ic.gov" }],
];

/** The domain of AWS's services in a region, which differs in China and in the isolated partitions. */
export function domainOf(region: string, kind: keyof Domains = "usual"): string {
  return (OTHERS.find(([beginning]) => region.startsWith(beginning))?.[1] ?? COMMERCIAL)[kind];
}
