/**
 * Default endpoints of AWS services from environment variables and from the profile in the shared files. Read
 * synchronously while the configuration is read.
 */
import { variable } from "../credentials/surroundings.ts";
import { profileIn, sections, sharedPaths } from "./aws_files.ts";
import type { Env } from "./cloud.ts";

/** Settings of a profile that affect endpoints. */
export interface ProfilePlaces {
  region?: string;
  /** Endpoint URL of Bedrock, or of all services. */
  endpoint?: string;
  /** "true": endpoints of this kind are used. Named like the corresponding variables. */
  AWS_USE_FIPS_ENDPOINT?: string;
  AWS_USE_DUALSTACK_ENDPOINT?: string;
}

/** @param named the profile; undefined: that of AWS_PROFILE, else `default` */
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

/** Which endpoints are used: FIPS 140 certified ones, dual-stack (IPv6) ones. */
export function wantedHosts(said: Env): { fips: boolean; dualStack: boolean } {
  const wanted = (name: string) => /^true$/i.test(said(name) ?? "");
  return { fips: wanted("AWS_USE_FIPS_ENDPOINT"), dualStack: wanted("AWS_USE_DUALSTACK_ENDPOINT") };
}

/** Whether endpoint URLs in variables and files are ignored. */
export function ignoresEndpoints(env: Env): boolean {
  return /^true$/i.test(env("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS") ?? "");
}

/** The URL for Bedrock's model lists that a variable defines, for calls to this base URL; undefined: none. */
export function namedListsOf(baseUrl: string, env: Env): string | undefined {
  if (ignoresEndpoints(env)) return undefined;
  const bare = (url: string | undefined) => url?.replace(/\/+$/, "");
  const own = bare(env("AWS_ENDPOINT_URL_BEDROCK"));
  if (RUNTIME_HOST.test(baseUrl)) return own;
  // The endpoint URL in the file applies to all services, that in a variable to one service.
  const named = bare(env("AWS_ENDPOINT_URL_BEDROCK_RUNTIME") || undefined);
  return named === baseUrl ? own || bare(env("AWS_ENDPOINT_URL")) || undefined : undefined;
}

/** Hosts of Bedrock's runtime: public ones, and VPC endpoints. */
const RUNTIME_HOST = /^https:\/\/(?:vpce-[\w-]+\.)?bedrock-runtime(?:-fips)?\.[\w-]+\./;

/** The region in a host name of Bedrock, also that of a VPC endpoint. */
export function regionIn(baseUrl: string): { region?: string } {
  const [, region] = REGION_HOST.exec(baseUrl) ?? [];
  return region === undefined ? {} : { region };
}

const REGION_HOST =
  /^https:\/\/(?:vpce-[\w-]+\.)?bedrock-(?:runtime|mantle)(?:-fips)?\.([a-z]+(?:-[a-z]+)+-\d{1,2})\.[\w.]+/;

/** The endpoint of the Security Token Service. */
export function stsAddress(env: Env, region: string): string {
  const named = ignoresEndpoints(env)
    ? undefined
    : variable({ env }, "AWS_ENDPOINT_URL_STS", "AWS_ENDPOINT_URL");
  const { fips, dualStack } = wantedHosts(env);
  // In the GovCloud regions the default host is FIPS certified.
  const host = fips && (dualStack || !region.startsWith("us-gov-")) ? "sts-fips" : "sts";
  const domain = domainOf(region, dualStack ? "dualStack" : "usual");
  return (named ?? `https://${host}.${region}.${domain}`).replace(/\/*$/, "/");
}

/** Domain suffixes of an AWS partition: default and dual-stack. */
interface Domains {
  usual: string;
  dualStack: string;
}

const COMMERCIAL: Domains = { usual: "amazonaws.com", dualStack: "api.aws" };

/** By prefix of the region. */
const OTHERS: readonly (readonly [string, Domains])[] = [
  ["cn-", { usual: "amazonaws.com.cn", dualStack: "api.amazonwebservices.com.cn" }],
  ["eusc-", { usual: "amazonaws.eu", dualStack: "api.amazonwebservices.eu" }],
  ["us-iso-", { usual: "c2s.ic.gov", dualStack: "api.aws.ic.gov" }],
  ["us-isob-", { usual: "sc2s.sgov.gov", dualStack: "api.aws.scloud" }],
  ["eu-isoe-", { usual: "cloud.adc-e.uk", dualStack: "api.cloud-aws.adc-e.uk" }],
  ["us-isof-", { usual: "csp.hci.ic.gov", dualStack: "api.aws.hci.ic.gov" }],
];

/** The domain suffix of AWS services in a region, which differs in China and in the isolated partitions. */
export function domainOf(region: string, kind: keyof Domains = "usual"): string {
  return (OTHERS.find(([beginning]) => region.startsWith(beginning))?.[1] ?? COMMERCIAL)[kind];
}
