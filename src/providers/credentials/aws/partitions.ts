/** The domains of AWS's partitions: the one that hosts of a region end in, and the one of those that IPv6 reaches too. */

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

export function domainOf(region: string, kind: keyof Domains = "usual"): string {
  return (OTHERS.find(([beginning]) => region.startsWith(beginning))?.[1] ?? COMMERCIAL)[kind];
}
