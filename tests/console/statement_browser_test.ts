/** An account's statement in a real browser: sums, and the files that are saved. */
import { assert, assertEquals } from "@std/assert";
import { browserTest, startBrowser } from "../support/browser.ts";
import { testGateway } from "../support/gateway.ts";
import { eventually } from "../support/time.ts";
import { ROWS, signIn, to } from "./pages.ts";
import { ADMIN } from "./rig.ts";

browserTest(
  "an account's statement shows what each model came to, and is saved as CSV and JSON",
  async () => {
    await using gateway = await testGateway({
      demo: { api: "demo", url: "", model: { pricing: { prompt: "0.000003", completion: "0.000015" } } },
    }, { admin_key: ADMIN, accounts: [{ name: "default", credits: "10" }] });
    await using browser = await startBrowser();
    for (let i = 0; i < 2; i++) {
      const answer = await gateway.post("/v1/chat/completions", {
        model: "demo/model",
        max_tokens: 5,
        messages: [{ role: "user", content: "hi" }],
      });
      assertEquals(answer.status, 200, await answer.text());
    }
    const headers = { authorization: `Bearer ${ADMIN}` };
    await eventually(async () => {
      const answer = await fetch(`${gateway.url}/admin/generations`, { headers });
      return (await answer.json()).data.length === 2;
    });
    const page = await browser.page();
    await signIn(page, gateway.url);
    await to(page, "Keys");
    await page.click(".choice button", "Accounts");
    await page.click("main td button", "Statement");
    await page.until(`[...document.querySelectorAll("dialog tbody tr")].some((row) =>
        /^demo\\/model\\s+2\\s/.test(row.innerText))`);
    for (const width of [1280, 390]) {
      await page.size(width);
      assertEquals(await page.axe(), []);
      await page.assertFits();
    }
    await page.click("dialog button", "CSV, each generation");
    await page.click("dialog button", "JSON");
    const saved = (form: string) =>
      page.requests.filter((url) => url.includes(`/statement?`) && url.includes(form));
    await eventually(() => saved("by=generation").length === 2);
    await page.until(`${ROWS}.length > 0`);
    assertEquals(page.mistakes, []);
    assert(page.requests.every((url) => url.startsWith(gateway.url) || /^(?:blob|data):/.test(url)));
  },
);
