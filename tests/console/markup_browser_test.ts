/** Whatever somebody has named, or a provider has said, stands in the pages as text: nothing of it runs, and nothing is loaded. */
import { assert, assertEquals } from "@std/assert";
import { browserTest, startBrowser } from "../support/browser.ts";
import { testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";
import { signIn, to } from "./pages.ts";
import { ADMIN } from "./rig.ts";

const MARKUP = `<img src=x onerror="window.ran=1"><script>window.ran=1</script>"'>{{7*7}}`;
/** Names may not be that long everywhere. */
const SHORT = `<img/src=x/onerror=ran=1>`;

browserTest("markup in names, tags, errors, tools and sessions is text on every page", async () => {
  await using provider = loopbackProvider(() =>
    Response.json({ error: { message: MARKUP, type: MARKUP, code: MARKUP } }, { status: 500 })
  );
  await using gateway = await testGateway({
    demo: { api: "demo", url: "" },
    [`p${SHORT}`]: { api: "openai-chat", url: provider.url },
  }, {
    admin_key: ADMIN,
    models: [
      {
        id: `demo/${SHORT}`,
        routes: [{ provider: "demo", model: "m" }],
        name: MARKUP,
        pricing: { prompt: "0", completion: "0" },
      },
      {
        id: "bad/model",
        routes: [{ provider: `p${SHORT}`, model: "model" }],
        pricing: { prompt: "0", completion: "0" },
      },
    ],
    teams: [{ name: SHORT, spend_limit: { amount: "5", period: "month" } }],
    accounts: [{ name: `a${SHORT}`, credits: "5" }, { name: "default", credits: null }],
    dlp_policies: { [SHORT]: { mode: "mask", regexes: [{ name: "REGEX", pattern: "zebra" }] } },
    access_policies: { [`x${SHORT}`]: { allow: [`demo/${SHORT}`, "*"], deny: [] } },
  });
  await using browser = await startBrowser();
  const { accounts } = gateway.gateway;
  const { secret } = await accounts.createKey({
    name: MARKUP.slice(0, 100),
    team: SHORT,
    dlp_policy: SHORT,
  });
  const headers = { authorization: `Bearer ${ADMIN}`, "content-type": "application/json" };
  const token = { name: SHORT, role: "auditor" };
  await (await fetch(`${gateway.url}/admin/tokens`, {
    method: "POST",
    headers,
    body: JSON.stringify(token),
  })).text();
  for (const model of [`demo/${SHORT}`, "bad/model", SHORT]) {
    const answer = await gateway.post("/v1/chat/completions", {
      model,
      messages: [{ role: "user", content: `zebra 4111 1111 1111 1111 ${MARKUP}` }],
      tools: [{
        type: "function",
        function: {
          name: "t",
          description: "zebra",
          parameters: {
            type: "object",
            properties: { [SHORT]: { type: "string", description: "zebra" } },
          },
        },
      }],
    }, {
      headers: {
        authorization: `Bearer ${secret}`,
        "x-svc-tags": "feature=%3Cimg src=x onerror=ran=1%3E",
        "x-svc-session": encodeURIComponent(SHORT),
      },
    });
    await answer.text();
  }
  const page = await browser.page();
  await signIn(page, gateway.url);
  const clean = async (what: string) => {
    const [ran, images, scripts] = await page.evaluate(
      "[window.ran ?? null, document.querySelectorAll('img').length, document.querySelectorAll('script:not([src], [type=importmap])').length]",
    );
    assertEquals([ran, images, scripts], [null, 0, 0], what);
  };
  const tabs: Record<string, string[]> = {
    Overview: ["Provider", "Key", "Team", "Tag", "Model"],
    Live: [],
    Explore: ["Usage", "Generations"],
    Playground: [],
    Models: ["Providers", "Changes", "Catalog"],
    Policies: ["Findings", "Administration", "Policies"],
    Configuration: [],
    Keys: ["Teams", "Accounts", "Tokens", "Sessions", "Keys"],
  };
  let shown = "";
  for (const [title, inner] of Object.entries(tabs)) {
    await to(page, title);
    await clean(title);
    for (const tab of inner) {
      await page.click(".choice button", tab);
      await page.until("document.querySelector('main .waiting') === null");
      await clean(`${title}, ${tab}`);
      shown += await page.evaluate("document.body.innerText");
    }
    shown += await page.evaluate("document.body.innerText");
  }
  assert(shown.includes(SHORT), "the names are there to be seen");
  await page.click("a.row-link");
  await page.until("document.querySelector('dialog[open]')");
  await clean("a key");
  await page.press("Escape");
  await to(page, "Explore");
  await page.click("main tbody a");
  await page.shows("Steps and times");
  await clean("a generation");
  assertEquals(page.requests.filter((url) => url.endsWith("/x")), []);
  assertEquals(page.mistakes, []);
});
