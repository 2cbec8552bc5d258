/** Where Bedrock is by variables and by AWS's shared files, as @aws-sdk/client-bedrock-runtime 3.1164.0 resolves it. */
import { assertEquals, assertThrows } from "@std/assert";
import { foundProviders } from "../../../src/config/demo.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { awsCredential } from "../../../src/providers/credentials/aws/mod.ts";
import { placesOfProfile, stsAddress } from "../../../src/providers/clouds/aws_places.ts";
import { machine } from "../credentials/cloud.ts";

const SERVICES = "[services ours]\nbedrock =\n  endpoint_url = https://control.example\n" +
  "bedrock_runtime =\n  endpoint_url = https://services.example\n[services other]\ns3 =\n  endpoint_url = https://s3.example\n";

/** The address and the region that is signed for. */
function placed(
  env: Record<string, string>,
  files: { config?: string; credentials?: string },
  more: object = {},
) {
  const folder = Deno.makeTempDirSync();
  const names = { config: "AWS_CONFIG_FILE", credentials: "AWS_SHARED_CREDENTIALS_FILE" } as const;
  const paths: Record<string, string> = {};
  try {
    for (const name of ["config", "credentials"] as const) {
      paths[names[name]] = `${folder}/${name}`;
      if (files[name] !== undefined) Deno.writeTextFileSync(paths[names[name]], files[name] + SERVICES);
    }
    const all: Record<string, string | undefined> = { ...env, ...paths };
    const { config } = loadConfig(JSON.stringify({ providers: { bedrock: more } }), {
      env: (name) => all[name],
    });
    const { baseUrl, auth } = config.providers[0];
    return [baseUrl, auth.type === "aws" ? auth.region : auth.type];
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

const R = { AWS_REGION: "us-west-2" };
const US = "https://bedrock-runtime.us-west-2.amazonaws.com";

/** Variables, the config file, further fields of the provider; the address and the region. */
const PLACES: readonly (readonly [Record<string, string>, string, string, string, object?])[] = [
  [R, "[default]\nregion = r\n", US, "us-west-2"],
  [{}, "[default]\nregion = us-west-2\n", US, "us-west-2"],
  [
    { AWS_PROFILE: "p" },
    "[default]\nregion = r\n[profile p]\n  region = us-west-2 # ours\n",
    US,
    "us-west-2",
  ],
  [{ AWS_PROFILE: "p" }, "[profile p]\nregion = r\n[profile q]\nregion = us-west-2\n", US, "us-west-2", {
    auth: { profile: "q" },
  }],
  [{}, "[default]\nregion = r\n", US, "us-west-2", { region: "us-west-2" }],
  [{ ...R, AWS_ENDPOINT_URL: "https://all.example/" }, "", "https://all.example", "us-west-2"],
  [
    {
      ...R,
      AWS_ENDPOINT_URL: "https://all.example",
      AWS_ENDPOINT_URL_BEDROCK_RUNTIME: "https://one.example",
    },
    "[default]\nendpoint_url = https://profile.example\n",
    "https://one.example",
    "us-west-2",
  ],
  [R, "[default]\nendpoint_url = https://profile.example/\n", "https://profile.example", "us-west-2"],
  [
    R,
    "[default]\nservices = ours\nendpoint_url = https://profile.example\n",
    "https://services.example",
    "us-west-2",
  ],
  [
    R,
    "[default]\nservices = other\nendpoint_url = https://profile.example\n",
    "https://profile.example",
    "us-west-2",
  ],
  [R, "[default]\nservices = ours\n", "https://file.example", "us-west-2", {
    base_url: "https://file.example",
  }],
  [
    { ...R, AWS_ENDPOINT_URL: "https://all.example", AWS_IGNORE_CONFIGURED_ENDPOINT_URLS: "true" },
    "[default]\nservices = ours\n",
    US,
    "us-west-2",
  ],
  [
    { AWS_REGION: "us-gov-west-1", AWS_USE_FIPS_ENDPOINT: "true" },
    "",
    "https://bedrock-runtime-fips.us-gov-west-1.amazonaws.com",
    "us-gov-west-1",
  ],
  [
    R,
    "[default]\nuse_fips_endpoint = true\nuse_dualstack_endpoint = True\n",
    "https://bedrock-runtime-fips.us-west-2.api.aws",
    "us-west-2",
  ],
  [{ ...R, AWS_USE_FIPS_ENDPOINT: "false" }, "[default]\nuse_fips_endpoint = true\n", US, "us-west-2"],
  [
    { AWS_REGION: "eusc-de-east-1" },
    "",
    "https://bedrock-runtime.eusc-de-east-1.amazonaws.eu",
    "eusc-de-east-1",
  ],
  // A host of Bedrock refuses signatures for another region.
  [{ AWS_REGION: "eu-central-1" }, "", US, "us-west-2", { base_url: US }],
  [{ AWS_ENDPOINT_URL_BEDROCK_RUNTIME: US }, "[default]\nregion = eu-central-1\n", US, "us-west-2"],
  [{}, "", "https://bedrock-runtime-fips.us-gov-west-1.amazonaws.com", "us-gov-west-1", {
    base_url: "https://bedrock-runtime-fips.us-gov-west-1.amazonaws.com",
  }],
  [{}, "", "https://vpce-0a1b-2c3d.bedrock-runtime.eu-west-1.vpce.amazonaws.com", "eu-west-1", {
    base_url: "https://vpce-0a1b-2c3d.bedrock-runtime.eu-west-1.vpce.amazonaws.com",
  }],
  [{}, "", "https://bedrock-mantle.us-east-1.api.aws", "us-east-1", {
    base_url: "https://bedrock-mantle.us-east-1.api.aws",
  }],
  [R, "", US, "eu-central-1", { base_url: US, region: "eu-central-1" }],
  [R, "", "https://bedrock-runtime.internal.example", "us-west-2", {
    base_url: "https://bedrock-runtime.internal.example",
  }],
];

for (const [env, config, url, region, more] of PLACES) {
  Deno.test(`Bedrock is at ${url} by ${JSON.stringify([env, config, more])}`, () => {
    assertEquals(placed(env, { config }, more), [url, region]);
    // What stands in the file of credentials counts as well.
    if (!config.includes("profile ")) {
      assertEquals(placed(env, { config: "", credentials: config }, more), [url, region]);
    }
  });
}

Deno.test("Bedrock without a region is a mistake, also where a variable has an address of all services", () => {
  const env = { AWS_ENDPOINT_URL: "https://all.example", AWS_ACCESS_KEY_ID: "k" };
  assertThrows(() => placed(env, { config: "[default]\noutput = json\n" }), Error, "AWS_REGION");
  assertEquals(foundProviders((name) => (env as Record<string, string>)[name]), []);
});

Deno.test("placesOfProfile() reads no file where the environment names no home", () => {
  assertEquals(Object.values(placesOfProfile(() => undefined, undefined)).filter((value) => value), []);
});

const VPCE = "https://vpce-0a1b2c-3d4e.bedrock-runtime.eu-west-1.vpce.amazonaws.com";

/** Variables and the address of calls; where the models are listed. */
const LISTS: readonly (readonly [Record<string, string>, string, string])[] = [
  [{}, VPCE, "https://bedrock.eu-west-1.amazonaws.com"],
  [
    {},
    "https://vpce-0a-1b-eu-west-1a.bedrock-runtime.eu-west-1.vpce.amazonaws.com",
    "https://bedrock.eu-west-1.amazonaws.com",
  ],
  [{ AWS_ENDPOINT_URL_BEDROCK: "https://lists.example/" }, VPCE, "https://lists.example"],
  [{ AWS_ENDPOINT_URL_BEDROCK: "https://lists.example" }, US, "https://lists.example"],
  [{}, "https://bedrock-runtime.us-west-2.api.aws", "https://bedrock.us-west-2.api.aws"],
  // The configured address applies to every endpoint.
  [{ AWS_ENDPOINT_URL_BEDROCK: "https://lists.example" }, "https://file.example", "https://file.example"],
  [
    {
      AWS_ENDPOINT_URL_BEDROCK: "https://lists.example",
      AWS_ENDPOINT_URL_BEDROCK_RUNTIME: "https://one.example/",
    },
    "https://one.example",
    "https://lists.example",
  ],
  [
    { AWS_ENDPOINT_URL: "https://all.example", AWS_ENDPOINT_URL_BEDROCK_RUNTIME: "https://one.example" },
    "https://one.example",
    "https://all.example",
  ],
  [{ AWS_ENDPOINT_URL_BEDROCK_RUNTIME: "https://one.example" }, "https://one.example", "https://one.example"],
  [
    { AWS_ENDPOINT_URL_BEDROCK: "https://lists.example", AWS_IGNORE_CONFIGURED_ENDPOINT_URLS: "true" },
    US,
    "https://bedrock.us-west-2.amazonaws.com",
  ],
];

Deno.test("Bedrock's models are listed where the environment says, else at the control plane of the address", () => {
  const { config } = loadConfig(JSON.stringify({ providers: { bedrock: { region: "r" } } }), {
    env: () => undefined,
  });
  const { auth, api } = config.providers[0];
  if (auth.type !== "aws") throw new Error("expected a credential of AWS");
  const bearers: Record<string, string>[] = [{}, { AWS_BEARER_TOKEN_BEDROCK: "key" }];
  for (const bearer of bearers) {
    for (const [env, baseUrl, lists] of LISTS) {
      const { listsOf } = awsCredential("b", auth, machine({ ...env, ...bearer }));
      assertEquals(
        listsOf!(baseUrl) ?? api.modelsList!.origin!(baseUrl),
        lists,
        JSON.stringify([env, baseUrl]),
      );
    }
  }
});

/** Variables, the region, the address of the token service. */
const STS: readonly (readonly [Record<string, string>, string, string])[] = [
  [{}, "us-west-2", "https://sts.us-west-2.amazonaws.com/"],
  [{ AWS_USE_FIPS_ENDPOINT: "true" }, "us-west-2", "https://sts-fips.us-west-2.amazonaws.com/"],
  [
    { AWS_USE_FIPS_ENDPOINT: "true", AWS_USE_DUALSTACK_ENDPOINT: "true" },
    "us-gov-west-1",
    "https://sts-fips.us-gov-west-1.api.aws/",
  ],
  [{ AWS_USE_FIPS_ENDPOINT: "true" }, "us-gov-west-1", "https://sts.us-gov-west-1.amazonaws.com/"],
  [
    { AWS_USE_DUALSTACK_ENDPOINT: "true" },
    "cn-north-1",
    "https://sts.cn-north-1.api.amazonwebservices.com.cn/",
  ],
  [{}, "us-isob-east-1", "https://sts.us-isob-east-1.sc2s.sgov.gov/"],
  [{ AWS_ENDPOINT_URL: "https://all.example//" }, "us-west-2", "https://all.example/"],
  [
    { AWS_ENDPOINT_URL: "https://all.example", AWS_IGNORE_CONFIGURED_ENDPOINT_URLS: "TRUE" },
    "us-west-2",
    "https://sts.us-west-2.amazonaws.com/",
  ],
];

Deno.test("the token service of AWS is at the kind of host that is wanted", () => {
  for (const [env, region, address] of STS) {
    assertEquals(stsAddress((name) => env[name], region), address, JSON.stringify(env));
  }
});
