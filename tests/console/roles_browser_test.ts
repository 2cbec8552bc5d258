/** The console's pages in a real browser as auditors, members and colleagues with a token see them. */
import { assert, assertEquals } from "@std/assert";
import { browserTest, startBrowser } from "../support/browser.ts";
import { testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";
import { CLIENT, oidcProvider } from "../support/oidc_provider.ts";
import { ROWS, signIn, to } from "./pages.ts";
import { ADMIN } from "./rig.ts";

browserTest(
  "a breaker is reset by hand; an auditor sees everything and no button that changes",
  async () => {
    await using provider = loopbackProvider(() =>
      Response.json({ error: { message: "overloaded" } }, { status: 503 })
    );
    await using gateway = await testGateway({
      p: {
        api: "openai-chat",
        url: `${provider.url}/v1`,
        more: { breaker: { failures: 1, open_seconds: 3600 } },
      },
    }, { admin_key: ADMIN });
    await using browser = await startBrowser();
    const chat = { model: "p/model", max_tokens: 10, messages: [{ role: "user", content: "hi" }] };
    await (await gateway.post("/v1/chat/completions", chat)).body?.cancel();
    const made = await fetch(`${gateway.url}/admin/tokens`, {
      method: "POST",
      headers: { authorization: `Bearer ${ADMIN}` },
      body: JSON.stringify({ name: "eyes", role: "auditor" }),
    });
    const { secret } = await made.json();
    const page = await browser.page();
    await signIn(page, gateway.url, { secret: secret });
    for (
      const [title, tabs] of [["Keys", ["Keys", "Teams", "Accounts"]], ["Models", [
        "Catalog",
        "Providers",
      ]]] as const
    ) {
      await to(page, title);
      for (const tab of tabs) {
        await page.click("main .page-head button", tab);
        await page.until("document.querySelector('main .waiting') === null");
        await page.until("document.querySelector('main table, main .empty')");
        const buttons = await page.evaluate(
          "[...document.querySelectorAll('main button')].map((b) => b.innerText).join()",
        );
        assert(
          !/\b(?:New|Add|Change|Remove|Try|Put|Revoke)\b/.test(buttons),
          `${title}, ${tab}: ${buttons}`,
        );
      }
    }
    await page.shows("out of service");
    await page.click("button", "Sign out");
    await page.until("document.querySelector('input[name=secret]')");
    await signIn(page, gateway.url);
    await to(page, "Models");
    await page.click("main .page-head button", "Providers");
    await page.click("button", "Reset");
    await page.until(`${ROWS}.some((r) => r.startsWith("model") && r.includes("in service"))`);
    assertEquals(page.mistakes, []);
  },
);

browserTest(
  "a member signs in with the identity provider, makes a key within the team, and sees nobody else's",
  async () => {
    await using provider = await oidcProvider();
    await using gateway = await testGateway({ demo: { api: "demo", url: "" } }, {
      admin_key: ADMIN,
      teams: [{ name: "research", models: ["demo/*"] }],
      oidc: {
        issuer: provider.issuer,
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        roles: { claim: "role", map: { dev: "member" } },
        team_claim: "groups",
        member_spend_limit: { amount: "20", period: "month" },
      },
    });
    provider.person = { sub: "ada-1", preferred_username: "ada", groups: ["research"], role: "dev" };
    await using browser = await startBrowser();
    const page = await browser.page();
    await page.size(1280);
    await page.open(`${gateway.url}/console`);
    await page.click("a.button", "Sign in with your organisation");
    await page.until("document.querySelector('nav a')");
    const titles: string[] = await page.evaluate(
      "[...document.querySelectorAll('nav a')].map((a) => a.innerText.trim())",
    );
    for (const hidden of ["Models", "Policies", "Configuration"]) assert(!titles.includes(hidden), hidden);
    await to(page, "Keys");
    assert(!(await page.evaluate(ROWS)).some((row: string) => row.startsWith("test")), "the file's key");
    await page.click("button", "New key");
    // What the organisation's rule and the team leave room for is said before the key is made.
    assertEquals(
      await page.until("document.querySelector('dialog input[name=spend_amount]')?.placeholder"),
      "20.00, the most",
    );
    await page.shows("The key belongs to the team research");
    await page.shows("10 keys at once");
    await page.fill("dialog input[name=name]", "laptop");
    await page.click("dialog button", "Create the key");
    const secret: string = await page.until("document.querySelector('.secret code')?.textContent");
    await page.click("dialog button", "Close");
    await page.until(
      `${ROWS}.some((r) => r.startsWith("ada/laptop") && r.includes("research") && r.includes("$20.00"))`,
    );
    const list = await fetch(`${gateway.url}/v1/models`, {
      headers: { authorization: `Bearer ${secret}` },
    });
    assertEquals((await list.json()).data.map((model: { id: string }) => model.id), ["demo/model"]);
    await page.click("a.row-link", "ada/laptop");
    await page.until("document.querySelector('dialog .sub table')");
    const buttons = await page.evaluate(
      "[...document.querySelectorAll('dialog button')].map((b) => b.innerText)",
    );
    assert(!buttons.includes("Change limits") && buttons.includes("Revoke"), buttons.join());
    await page.click("dialog button", "Close");
    await to(page, "Playground");
    await page.click("button", "Make one for an hour");
    await page.until("document.querySelector('.held')?.innerText.includes('ada/playground')");
    await page.until("document.querySelector('input[name=model]').value === 'demo/model'");
    await page.click("form button[type=submit]", "Ask");
    await page.until("document.querySelector('.said .facts')");
    assertEquals(page.mistakes, []);
  },
);

browserTest(
  "an owner makes a token for a colleague, who is in with it, and out once it is revoked",
  async () => {
    await using gateway = await testGateway({ demo: { api: "demo", url: "" } }, { admin_key: ADMIN });
    await using browser = await startBrowser();
    const page = await browser.page();
    await signIn(page, gateway.url);
    await to(page, "Keys");
    await page.click(".choice button", "Tokens");
    await page.click("button", "New token");
    await page.fill("dialog input[name=name]", "ci");
    // A day that is over would make a secret that is never good.
    const today = new Date().toISOString().slice(0, 10);
    assert(await page.evaluate(`document.querySelector("dialog input[name=expires]").min > "${today}"`));
    await page.click("dialog button", "Create the token");
    const secret: string = await page.until("document.querySelector('.secret code')?.textContent");
    assertEquals(await page.axe(), []);
    const asked = async () => {
      const answer = await fetch(`${gateway.url}/admin/keys`, {
        headers: { authorization: `Bearer ${secret}` },
      });
      await answer.body?.cancel();
      return answer.status;
    };
    assertEquals(await asked(), 200);
    await page.click("dialog button", "Close");
    await page.click("button", "Revoke ci");
    await page.click("dialog .form-end button", "Revoke");
    await page.until(`${ROWS}.some((r) => r.startsWith("ci") && r.includes("revoked"))`);
    assertEquals(await asked(), 401);
    assertEquals(page.mistakes, []);
  },
);
