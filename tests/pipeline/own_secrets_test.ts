import { assertEquals } from "@std/assert";
import { loadValue } from "../../src/config/load.ts";
import { ownSecrets } from "../../src/pipeline/own_secrets.ts";

Deno.test("ownSecrets() has those of clouds too: in the configuration, nested, and in the environment", () => {
  const { config } = loadValue({
    providers: {
      a: {
        api: "openai-chat",
        base_url: "http://127.0.0.1:9/v1",
        auth: {
          type: "aws",
          region: "eu-central-1",
          access_key_id: "AKIDEXAMPLE",
          secret_access_key: "of-the-file-wJalrXUtnFEMI",
          session_token: "session-of-the-file",
        },
      },
      b: { api: "openai-chat", base_url: "http://127.0.0.1:9/v1", auth: { type: "azure" } },
    },
    models: [{ id: "a/m", routes: [{ provider: "a", model: "m" }] }],
  }, { env: () => undefined });
  const variables: Record<string, string> = {
    AWS_SECRET_ACCESS_KEY: "of-the-environment-wJalr",
    AWS_SESSION_TOKEN: "session-of-the-environment",
    AWS_BEARER_TOKEN_BEDROCK: "bearer-of-the-environment",
    AWS_WEB_IDENTITY_TOKEN_FILE: "/var/run/secrets/token",
    AWS_REGION: "eu-central-1",
    AZURE_CLIENT_SECRET: "client-secret-of-azure",
    AZURE_CLIENT_ID: "11111111-2222",
  };
  const found = new Set(ownSecrets(config, [], (name) => variables[name]));
  for (
    const secret of [
      "of-the-file-wJalrXUtnFEMI",
      "session-of-the-file",
      "of-the-environment-wJalr",
      "session-of-the-environment",
      "bearer-of-the-environment",
      "client-secret-of-azure",
    ]
  ) assertEquals(found.has(secret), true, secret);
  for (const word of ["/var/run/secrets/token", "eu-central-1", "11111111-2222"]) {
    assertEquals(found.has(word), false, word);
  }
});
