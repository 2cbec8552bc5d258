/** The keys with which calls through an AWS profile are signed. */
import { awsCredential } from "../../../src/providers/credentials/aws/mod.ts";
import type { Machine } from "./cloud.ts";

/** A function that signs a call through the profile `p` and returns the id of the key. */
export function credentialOf(on: Machine) {
  const settings = {
    region: "eu-central-1",
    service: "bedrock",
    profile: "p",
    roleArn: null,
    externalId: null,
  };
  const credential = awsCredential("b", settings, on);
  const call = { method: "POST" as const, url: "https://bedrock.example/", headers: {}, body: "" };
  return async () => /Credential=(.+?)\/\d{8}\//.exec((await credential.sign!(call)).authorization)![1];
}
