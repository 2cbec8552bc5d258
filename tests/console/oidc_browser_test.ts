/** Signing in with an identity provider of another site in a real browser: which cookies come along only a browser decides. */
import { assert, assertEquals } from "@std/assert";
import { browserTest, startBrowser } from "../support/browser.ts";
import { testGateway } from "../support/gateway.ts";
import { CLIENT, oidcProvider } from "../support/oidc_provider.ts";

browserTest(
  "the console in Chromium: a member signs in with the provider, makes a key, uses it, and signs out",
  async () => {
    await using provider = await oidcProvider("localhost");
    await using gateway = await testGateway({ demo: { api: "demo", url: "" } }, {
      admin_key: "an-admin-key-of-enough-letters",
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
    provider.person = { sub: "ada", preferred_username: "ada", roles: ["dev"], groups: ["research"] };
    const page = await browser.page();
    // Without motion: what fades in has less contrast for a moment.
    await page.colours("light");
    await page.open(`${gateway.url}/console`);
    await page.until("document.querySelector('a[href=\"/console/oidc/start\"]')");
    await page.click("a", "Sign in with your organisation");
    // The page before had the same address and a heading too, but no navigation.
    await page.until("document.querySelector('nav a') && document.querySelector('main h1')");
    await page.until("document.querySelector('main .waiting') === null");
    assertEquals(await page.axe(), []);
    assert(!(await page.evaluate("document.cookie")).includes("sluice"));
    const shown = await page.evaluate(`fetch("/console/session").then((answer) => answer.text())`);
    const { role, name, team, csrf } = JSON.parse(shown);
    assertEquals([role, name, team], ["member", "ada", "research"]);
    // What each page of a member asks for is allowed.
    const titles: string[] = await page.evaluate(
      "[...document.querySelectorAll('nav a')].map((a) => a.textContent.trim())",
    );
    for (const title of titles) {
      await page.click("nav a", title);
      await page.until(`document.querySelector("main h1")?.textContent === ${JSON.stringify(title)}`);
      await page.until("document.querySelector('main .waiting') === null");
    }
    assertEquals(page.mistakes, []);
    const made = await page.evaluate(
      `fetch("/admin/keys", { method: "POST", headers: { "content-type": "application/json", "x-svc-csrf": ${
        JSON.stringify(csrf)
      } }, body: '{"name":"laptop"}' }).then((answer) => answer.text())`,
    );
    const key = JSON.parse(made);
    assertEquals([key.name, key.team], ["ada/laptop", "research"]);
    const used = await gateway.post("/v1/chat/completions", {
      model: "demo/model",
      max_tokens: 5,
      messages: [{ role: "user", content: "hi" }],
    }, { headers: { authorization: `Bearer ${key.secret}` } });
    assertEquals(used.status, 200);
    await used.body?.cancel();
    await page.click("button", "Sign out");
    await page.until("document.querySelector('a[href^=\"/console/oidc/start?page=\"]')");
    // Here alone: who wants to leave the provider as well goes there by a link.
    const end = await page.until(
      "[...document.querySelectorAll('a')].find((a) => /^Sign out of/.test(a.innerText))?.href",
    );
    assertEquals(new URL(end).origin + new URL(end).pathname, `${provider.issuer}/logout`);
    assertEquals(await page.axe(), []);
    // A link to a page leads there, although the way there is over the provider.
    const linked = "/explore/usage?by=model%2Cday";
    await page.open("about:blank");
    await page.open(`${gateway.url}/console#${linked}`);
    await page.click("a", "Sign in with your organisation");
    await page.until("document.querySelector('nav a') && document.querySelector('main h1')");
    assertEquals(await page.evaluate("location.hash"), `#${linked}`);
    // Somebody without a role is told so, in both colours.
    provider.person = { sub: "eve", roles: ["none"] };
    const refused = await browser.page();
    for (const colours of ["light", "dark"] as const) {
      await refused.colours(colours);
      await refused.open(`${gateway.url}/console/oidc/start`);
      await refused.shows("Your account has no role here.");
      assertEquals(await refused.axe(), [], colours);
    }
  },
);
