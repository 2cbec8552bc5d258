/** Forms of the console: all names are offered, what somebody else has changed is not undone, and a session's end is told. */
import { assertEquals, assertMatch } from "@std/assert";
import { type BrowserPage, browserTest, startBrowser } from "../support/browser.ts";
import { testGateway } from "../support/gateway.ts";
import { signIn, to } from "./pages.ts";
import { ADMIN, askerOf } from "./rig.ts";

const headers = { authorization: `Bearer ${ADMIN}` };

async function filled(page: BrowserPage, fields: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(fields)) await page.fill(`dialog input[name=${name}]`, text);
}

const saved = (page: BrowserPage) => page.click("dialog button[type=submit]");

browserTest(
  "two people who change one key or one team undo nothing of each other's, and are told",
  async () => {
    await using gateway = await testGateway({ demo: { api: "demo", url: "" } }, {
      admin_key: ADMIN,
      dlp_policies: { cards: { mode: "block" } },
    });
    const ask = askerOf(gateway);
    await using browser = await startBrowser();
    await ask("POST", "/admin/keys", { headers, body: { name: "shared" } });
    await ask("POST", "/admin/teams", { headers, body: { name: "crew" } });
    const [ada, bob] = [await browser.page(), await browser.page()];
    for (const page of [ada, bob]) {
      await signIn(page, gateway.url);
      await to(page, "Keys");
      await page.click("main tbody a", "shared");
      await page.click("dialog button", "Change limits");
    }
    await filled(ada, { rpm: "10" });
    await saved(ada);
    await ada.shows("Saved shared");
    // Another field is nobody else's.
    await filled(bob, { tpm: "5000", models: "demo/*" });
    await saved(bob);
    await bob.shows("Somebody else has changed rate limit in the meantime.");
    assertEquals(await bob.evaluate("document.querySelector('dialog input[name=rpm]').value"), "10");
    await saved(bob);
    await bob.shows("Saved shared");
    const { json: key } = await ask("GET", "/admin/keys/shared", { headers });
    assertEquals(key.rate_limit, { requests_per_minute: 10, tokens_per_minute: 5000 });
    assertEquals(key.models, ["demo/*"]);

    for (const page of [ada, bob]) {
      await page.press("Escape");
      await page.until("document.querySelector('dialog') === null");
      await page.click("main [role=tab], main a, main button", "Teams");
      await page.click("main tbody button", "Change");
      await page.until("document.querySelector('dialog select[name=dlp_policy]')?.options.length === 2");
    }
    await ada.evaluate(`document.querySelector("dialog select[name=dlp_policy]").value = "cards"`);
    await saved(ada);
    await ada.shows("Saved crew");
    await filled(bob, { models: "demo/*" });
    await saved(bob);
    await bob.shows("Saved crew");
    const { json: team } = await ask("GET", "/admin/teams/crew", { headers });
    assertEquals([team.dlp_policy, team.models], ["cards", ["demo/*"]]);
    assertEquals([...ada.mistakes, ...bob.mistakes], []);
  },
);

browserTest(
  "a form leaves a key and a team without models without models, until somebody lists some",
  async () => {
    await using gateway = await testGateway({ demo: { api: "demo", url: "" } }, { admin_key: ADMIN });
    const ask = askerOf(gateway);
    await using browser = await startBrowser();
    const limits = {
      session_limit: { requests_per_minute: 6 },
      tag_limits: [{ tag: "customer", amount: "5", period: "day" }],
    };
    await ask("POST", "/admin/keys", { headers, body: { name: "closed", models: [], ...limits } });
    await ask("POST", "/admin/teams", { headers, body: { name: "closed", models: [] } });
    const page = await browser.page();
    await signIn(page, gateway.url);
    await to(page, "Keys");
    const cells = () =>
      page.evaluate("[...document.querySelectorAll('main tbody td')].map((cell) => cell.innerText)");
    await page.click("main tbody a", "closed");
    assertEquals((await cells()).at(-1), "none");
    const facts: string = await page.until("document.querySelector('dialog .facts')?.innerText");
    assertMatch(facts, /Of one session\s+6 requests a minute\s+Of each customer\s+\$5\.00 a day/);
    const change = async (path: string, button: string, fields: Record<string, string>) => {
      await page.click("button", button);
      await filled(page, fields);
      await saved(page);
      await page.until("document.querySelector('dialog input[name=models]') === null");
      return (await ask("GET", path, { headers })).json.models;
    };
    for (
      const [fields, models] of [[{ rpm: "10" }, []], [{ models: "" }, null], [
        { models: "none" },
        [],
      ]] as const
    ) {
      assertEquals(await change("/admin/keys/closed", "Change limits", fields), models);
    }
    await page.press("Escape");
    await page.until("document.querySelector('dialog') === null");
    await page.click("main [role=tab], main a, main button", "Teams");
    for (
      const [fields, models] of [[{ spend_amount: "1" }, []], [{ models: "demo/*" }, ["demo/*"]]] as const
    ) {
      assertEquals(await change("/admin/teams/closed", "Change", fields), models);
    }
    assertEquals(page.mistakes, []);
  },
);

/** Presses the mouse on an element, and lets it go at the edge of the window, beside every dialog. */
async function dragOut(page: BrowserPage, selector: string): Promise<void> {
  const from = await page.until(`(() => {
    const box = document.querySelector(${JSON.stringify(selector)})?.getBoundingClientRect();
    return box && { x: box.x + 5, y: box.y + box.height / 2 };
  })()`);
  await page.mouse("mousePressed", from);
  await page.mouse("mouseMoved", { x: 3, y: 500 });
  await page.mouse("mouseReleased", { x: 3, y: 500 });
}

async function clickBeside(page: BrowserPage): Promise<void> {
  await page.mouse("mousePressed", { x: 3, y: 500 });
  await page.mouse("mouseReleased", { x: 3, y: 500 });
}

browserTest(
  "a text that is selected beyond the edge of a dialog leaves it open, and a click beside a secret does, too",
  async () => {
    await using gateway = await testGateway({ demo: { api: "demo", url: "" } }, { admin_key: ADMIN });
    await using browser = await startBrowser();
    const page = await browser.page();
    await signIn(page, gateway.url);
    await to(page, "Keys");
    await page.click("main button", "New key");
    await filled(page, { name: "made" });
    await dragOut(page, "dialog input[name=name]");
    assertEquals(await page.evaluate("document.querySelector('dialog input[name=name]')?.value"), "made");
    await clickBeside(page);
    await page.until("document.querySelector('dialog') === null");
    await page.click("main button", "New key");
    await filled(page, { name: "made" });
    await saved(page);
    const secret = await page.until("document.querySelector('dialog .secret code')?.innerText");
    await dragOut(page, "dialog .secret code");
    await clickBeside(page);
    assertEquals(await page.evaluate("document.querySelector('dialog .secret code')?.innerText"), secret);
    await page.click("dialog header button", "Close");
    await page.until("document.querySelector('dialog') === null");
    assertEquals(page.mistakes, []);
  },
);

browserTest(
  "a form offers names of more than one page, and the way in says that a session has ended",
  async () => {
    const accounts = Array.from({ length: 1001 }, (_, i) => ({ name: `account ${i}`, credits: null }));
    await using gateway = await testGateway({ demo: { api: "demo", url: "" } }, {
      admin_key: ADMIN,
      accounts: [{ name: "default" }, ...accounts],
    });
    const ask = askerOf(gateway);
    await using browser = await startBrowser();
    const page = await browser.page();
    await page.open(`${gateway.url}/console`);
    await page.until("document.querySelector('input[name=secret]')");
    assertEquals(await page.evaluate("document.body.innerText.includes('has ended')"), false);
    await signIn(page, gateway.url);
    await to(page, "Keys");
    await page.click("main button", "New key");
    // With the one that says none.
    await page.until("document.querySelector('dialog select[name=account]')?.options.length === 1003");
    const [{ id }] = (await ask("GET", "/admin/sessions", { headers })).json.data;
    assertEquals((await ask("DELETE", `/admin/sessions/${id}`, { headers })).status, 200);
    await filled(page, { name: "late" });
    await saved(page);
    await page.shows("Your session has ended. Sign in again to continue.");
    await page.fill("input[name=secret]", ADMIN);
    await page.press("Enter");
    await page.until("document.querySelector('main h1')?.textContent === 'Keys'");
    assertMatch(page.mistakes.join(), /^Failed to load resource: .* 401 [^,]*$/);
  },
);
