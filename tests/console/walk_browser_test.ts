/** What an operator does on a first day, in a real browser, at three widths and in both colours. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import OpenAI from "openai";
import { type BrowserPage, browserTest, startBrowser } from "../support/browser.ts";
import { testGateway } from "../support/gateway.ts";
import { CLIENT, oidcProvider } from "../support/oidc_provider.ts";
import { eventually } from "../support/time.ts";
import { ROWS, signIn, to } from "./pages.ts";
import { ADMIN } from "./rig.ts";

const WIDTHS = [1280, 800, 390];

/** A page as it stands has no finding of axe, fits, and holds none of these texts anywhere. */
async function assertClean(page: BrowserPage, what: string, secrets: readonly string[] = []): Promise<void> {
  for (const colours of ["light", "dark"] as const) {
    await page.colours(colours);
    assertEquals(await page.axe(), [], `${what}, ${colours}`);
  }
  await page.assertFits();
  const held: string = await page.evaluate(`JSON.stringify([
    document.documentElement.outerHTML, Object.entries(localStorage), Object.entries(sessionStorage), document.cookie,
    location.href, history.state, document.referrer, [...document.querySelectorAll("input, textarea")].map((e) => e.value),
  ])`);
  for (const secret of secrets) assert(!held.includes(secret), `${what} holds a secret`);
}

for (const width of WIDTHS) {
  browserTest(
    `the walk at ${width} px: signed in, a key made and used, seen live, found by its tag, blocked, revoked, refused`,
    async () => {
      await using gateway = await testGateway({ demo: { api: "demo", url: "" } }, {
        admin_key: ADMIN,
        dlp_policies: { cards: { mode: "block", entity_types: ["CREDIT_CARD"] } },
      });
      await using browser = await startBrowser();
      const { headers, body } = await fetch(`${gateway.url}/console`);
      await body?.cancel();
      const policy = headers.get("content-security-policy")!;
      assertMatch(policy, /default-src 'none'/);
      assert(!/unsafe|\*|https?:|data:/.test(policy.replace(/img-src[^;]*/, "")), policy);
      const page = await browser.page();
      await page.open(`${gateway.url}/console`);
      await page.size(width);
      await page.until("document.querySelector('input[name=secret]')");
      await assertClean(page, "signing in");
      await signIn(page, gateway.url, { width });

      await to(page, "Keys");
      await page.click("button", "New key");
      await page.fill("dialog input[name=name]", "ada");
      await page.until(`(() => {
          const s = document.querySelector("dialog select[name=dlp_policy]");
          if (s) s.value = "cards";
          return s?.value === "cards";
        })()`);
      await page.click("dialog button", "Create the key");
      const secret: string = await page.until("document.querySelector('.secret code')?.textContent");
      await page.click("dialog button", "Close");
      const secrets = [secret, ADMIN];
      await page.until(
        `document.querySelector('dialog') === null && ${ROWS}.some((r) => r.startsWith("ada"))`,
      );
      await assertClean(page, "Keys", secrets);

      await to(page, "Live");
      await page.until("document.querySelector('.live-state').innerText.includes('Live')");
      const client = new OpenAI({ apiKey: secret, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
      const ask = (content: string) =>
        client.chat.completions.create({
          model: "demo/model",
          max_tokens: 20,
          messages: [{ role: "user", content }],
        }, { headers: { "x-svc-tags": `width=${width}` } });
      // What somebody types stays, whatever happens meanwhile.
      await page.fill("input[name=tag]", `width=${width}`);
      assert((await ask("hi")).choices[0].message.content);
      await page.until(`${ROWS}.some((r) => r.includes("completed") && r.includes("ada"))`);
      assertEquals(
        await page.evaluate("document.querySelector('input[name=tag]').value"),
        `width=${width}`,
      );
      await page.click("button", "Filter");
      await page.until(`location.hash.includes("tag") && ${ROWS}.length === 1`);
      await assertClean(page, "Live", secrets);
      const blocked = await ask("card 4111 1111 1111 1111").then(() => null, (error) => error);
      assertEquals(blocked?.status, 403);

      await to(page, "Explore");
      await page.fill("input[name=tag]", `width=${width}`);
      await page.click("button", "Search");
      await page.until(`location.hash.includes("tag") && ${ROWS}.length >= 1`);
      await page.until(`${ROWS}.some((r) => r.includes("completed"))`);
      await assertClean(page, "Explore", secrets);
      await page.click("main tbody a");
      await page.shows("Steps and times");
      // Also those that took no time to speak of.
      for (const step of ["Admission", "Screening", "Attempt"]) await page.shows(step);
      await assertClean(page, "a generation", secrets);
      await page.press("Escape");
      await page.until("document.querySelector('dialog') === null");
      await page.click(".choice button", "Usage");
      await page.until("document.querySelector('.plot canvas')");
      await assertClean(page, "Usage", secrets);

      await to(page, "Policies");
      await page.click(".choice button", "Findings");
      await page.until(`${ROWS}.some((r) => r.includes("refused") && r.includes("CREDIT_CARD"))`);
      await assertClean(page, "Findings", [...secrets, "4111"]);
      await page.click(".choice button", "Administration");
      await page.until(`${ROWS}.some((r) => r.includes("ada"))`);
      await assertClean(page, "Administration", secrets);

      for (const title of ["Overview", "Playground", "Models", "Configuration"]) {
        await to(page, title);
        await assertClean(page, title, secrets);
      }
      await to(page, "Keys");
      for (const tab of ["Teams", "Accounts", "Tokens", "Sessions", "Keys"]) {
        await page.click(".choice button", tab);
        await page.until(`document.querySelector("main h2")?.textContent === ${JSON.stringify(tab)}`);
        await page.until("document.querySelector('main .waiting') === null");
        await assertClean(page, tab, secrets);
      }
      await page.click("a.row-link", "ada");
      await page.click("dialog button", "Revoke");
      await page.click("dialog .form-end button", "Revoke");
      await page.until(
        `document.querySelector('dialog') === null && !${ROWS}.some((r) => r.startsWith("ada"))`,
      );
      const refused = await ask("hi").then(() => null, (error) => error);
      assertEquals(refused?.status, 401);
      assertEquals(page.mistakes, []);
      // The browser's own icons in its date fields are data.
      const foreign = page.requests.filter((url) => !url.startsWith(gateway.url) && !url.startsWith("data:"));
      assertEquals(foreign, [], "nothing comes from elsewhere");
      assertEquals(page.requests.filter((url) => secrets.some((one) => url.includes(one))), []);
    },
  );

  browserTest(
    `a member's walk at ${width} px: in by the identity provider, an own key, its calls in overview and live view`,
    async () => {
      await using provider = await oidcProvider("localhost");
      await using gateway = await testGateway({ demo: { api: "demo", url: "" } }, {
        admin_key: ADMIN,
        teams: [{ name: "research" }],
        oidc: {
          issuer: provider.issuer,
          client_id: CLIENT.id,
          client_secret: CLIENT.secret,
          roles: { claim: "roles", map: { dev: "member" } },
          team_claim: "groups",
        },
      });
      await using browser = await startBrowser();
      const others = await gateway.gateway.accounts.createKey({ name: "zebra" });
      provider.person = { sub: "ada", preferred_username: "ada", roles: ["dev"], groups: ["research"] };
      const page = await browser.page();
      await page.size(width);
      await page.open(`${gateway.url}/console`);
      await page.click("a.button", "Sign in with your organisation");
      await page.until("location.pathname === '/console' && document.querySelector('nav a')");
      await to(page, "Keys");
      await page.click("button", "New key");
      await page.fill("dialog input[name=name]", "laptop");
      await page.click("dialog button", "Create the key");
      const secret: string = await page.until("document.querySelector('.secret code')?.textContent");
      await page.click("dialog button", "Close");
      await to(page, "Live");
      await page.until("document.querySelector('.live-state').innerText.includes('Live')");
      for (const key of [others.secret, secret]) {
        const answer = await gateway.post("/v1/chat/completions", {
          model: "demo/model",
          max_tokens: 5,
          messages: [{ role: "user", content: "hi" }],
        }, { headers: { authorization: `Bearer ${key}` } });
        assertEquals(answer.status, 200, await answer.text());
      }
      await page.until(`${ROWS}.some((r) => r.includes("ada/laptop"))`);
      assert(!(await page.evaluate("document.body.innerText")).includes("zebra"));
      await assertClean(page, "Live", [secret]);
      for (const title of ["Overview", "Explore", "Playground", "Keys"]) {
        await to(page, title);
        if (title === "Overview") await page.until(`${ROWS}.some((r) => r.includes("demo/model"))`);
        await assertClean(page, title, [secret, "zebra"]);
      }
      assertEquals(page.mistakes, []);
    },
  );
}

browserTest(
  "with the store away every page says so and shows what the process knows, and stops saying so when it is back",
  async () => {
    const folder = await Deno.makeTempDir({ prefix: "sluice-away-" });
    const path = `${folder}/s.db`;
    const gateway = await testGateway({ demo: { api: "demo", url: "" } }, {
      admin_key: ADMIN,
      store: { url: `sqlite:${path}` },
      teams: [{ name: "research", spend_limit: { amount: "50", period: "month" } }],
    });
    const { accounts } = gateway.gateway;
    const browser = await startBrowser();
    try {
      await eventually(() => accounts.storeUp());
      await (await gateway.post("/v1/chat/completions", {
        model: "demo/model",
        messages: [{ role: "user", content: "hi" }],
      })).text();
      await accounts.createKey({
        name: "made",
        team: "research",
        spend_limit: { amount: "5", period: "day" },
      });
      const page = await browser.page();
      await signIn(page, gateway.url);
      await to(page, "Keys");
      assertEquals(
        await page.evaluate("document.body.innerText.includes('The store is unavailable')"),
        false,
      );
      Deno.renameSync(path, `${path}.away`);
      await eventually(() => !accounts.storeUp());
      const shows: Record<string, string[]> = {
        Overview: ["only the calls of this process"],
        Live: ["test"],
        Explore: ["what this process knows, since", "completed"],
        Keys: ["made", "test", "spending is unknown"],
        Models: ["demo/model"],
        Policies: [],
        Configuration: ["which is unavailable"],
        Playground: [],
      };
      for (const [title, texts] of Object.entries(shows)) {
        await to(page, title);
        // The live view asks once, and then listens.
        await page.shows("The store is unavailable.");
        for (const text of texts) await page.shows(text);
        assertEquals(await page.axe(), [], title);
        await page.assertFits();
      }
      await to(page, "Keys");
      for (
        const [tab, text] of [["Teams", "research"], ["Accounts", "default"], ["Tokens", "No tokens yet"], [
          "Sessions",
          "Unknown while the store is unavailable",
        ]]
      ) {
        await page.click(".choice button", tab);
        await page.shows(text);
      }
      assert(!/Nobody/.test(await page.evaluate("document.querySelector('main').innerText")));
      assert(
        !/\$0\.00/.test(await page.evaluate("document.querySelector('main').innerText")),
        "no amount is made up",
      );
      await to(page, "Policies");
      for (const tab of ["Findings", "Administration"]) {
        await page.click(".choice button", tab);
        await page.shows("Unknown while the store is unavailable");
      }
      Deno.renameSync(`${path}.away`, path);
      await eventually(() => accounts.storeUp());
      await to(page, "Explore");
      await page.until("!document.body.innerText.includes('The store is unavailable')");
      assertEquals(page.mistakes, []);
    } finally {
      await browser.close();
      await gateway.close().catch(() => {});
      await Deno.remove(folder, { recursive: true });
    }
  },
);
