/** Overview, Live and Explore in a real browser: a call seen as it happens, opened, found again by its tag, and counted. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import OpenAI from "openai";
import { browserTest, startBrowser } from "../support/browser.ts";
import { SECRET, testGateway } from "../support/gateway.ts";
import { assertFine, ROWS, signIn, to } from "./pages.ts";
import { ADMIN } from "./rig.ts";

browserTest(
  "a call is seen live, opened with what happened when, found again by its tag, and counted",
  async () => {
    await using gateway = await testGateway({ demo: { api: "demo", url: "" } }, {
      admin_key: ADMIN,
      dlp_policies: { cards: { mode: "mask" } },
      keys: [{ name: "shop", secret: SECRET, dlp_policy: "cards" }],
    });
    await using browser = await startBrowser();
    const page = await browser.page();
    await signIn(page, gateway.url);
    await to(page, "Live");
    await page.shows("No call yet");
    await page.until("document.querySelector('.live-state').innerText.includes('Live')");
    const client = new OpenAI({ apiKey: SECRET, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
    const ask = async (feature: string, content: string) => {
      const stream = await client.chat.completions.create({
        model: "demo/model",
        stream: true,
        messages: [{ role: "user", content }],
      }, { headers: { "x-svc-tags": `feature=${feature}` } });
      for await (const _ of stream);
    };
    const first = ask("search", "mail jane.doe@corp.example, card 4111 1111 1111 1111");
    await page.until(`${ROWS}.some((row) => row.includes("demo/model") && row.includes("search"))`);
    await Promise.all([first, ask("other", "hello")]);
    await page.until(`${ROWS}.filter((row) => row.includes("completed")).length === 2`);
    await assertFine(page, "Live");

    // A filter is in the address, and holds for what comes.
    await page.fill("input[name=tag]", "feature=search");
    await page.click("button", "Filter");
    await page.until(`location.hash.includes("feature") && ${ROWS}.length === 1`);
    await page.click("main tbody a");
    await page.shows("Steps and times");
    const shown: string = await page.evaluate("document.querySelector('dialog').innerText");
    for (const part of ["Streaming", "Tokens and price", "EMAIL_ADDRESS", "CREDIT_CARD", "masked"]) {
      assert(shown.includes(part), `${part}: ${shown}`);
    }
    assert(!/jane\.doe|4111/.test(await page.evaluate("document.documentElement.outerHTML")));
    await assertFine(page, "a generation");
    await page.press("Escape");
    await page.until("document.querySelector('dialog') === null");

    await to(page, "Explore");
    await page.until(`${ROWS}.length === 2`);
    await page.fill("input[name=tag]", "feature=search");
    await page.click("button", "Search");
    await page.until(`location.hash.includes("tag") && ${ROWS}.length === 1`);
    assert((await page.evaluate(ROWS))[0].includes("mask 2"));
    await assertFine(page, "Explore");
    await page.click("button", "Save this view");
    await page.fill("dialog input[name=name]", "searches");
    await page.click("dialog button", "Save");
    await page.until("document.querySelector('.view a')?.innerText === 'searches'");
    await page.click("a", "All");
    await page.until(`${ROWS}.length === 2`);
    await page.click(".view a", "searches");
    await page.until(`${ROWS}.length === 1`);

    await page.click(".choice button", "Usage");
    await page.shows("Spend by day and model");
    await page.until("document.querySelector('.plot canvas')");
    await assertFine(page, "Usage");

    await to(page, "Overview");
    await page.click(".choice button", "15 min");
    await page.until(
      "location.hash.includes('15m') && document.querySelectorAll('.plot canvas').length === 6",
    );
    await page.click(".choice button", "Tag");
    await page.until(`${ROWS}.some((row) => row.includes("feature=search") && row.includes("1"))`);
    const requests = "document.querySelector('.stat dd').firstChild.data";
    assertEquals(await page.evaluate(requests), "2");
    await assertFine(page, "Overview");
    await page.click("a.row-link", "feature=search");
    await page.shows("Tag feature=search alone");
    await page.until(`${requests} === "1"`);
    await assertFine(page, "Overview of one value");
    await page.click("a", "Show all");
    await page.until(`${requests} === "2"`);

    await to(page, "Live");
    await page.until("document.querySelector('.live-state').innerText.includes('Live')");
    const messages = [{ role: "user", content: "hello" }];
    const unknown = await gateway.post("/v1/chat/completions", { model: "no/such", messages });
    assertEquals(unknown.status, 404);
    await unknown.body?.cancel();
    await page.until(`${ROWS}.some((row) => row.includes("model_not_found"))`);
    const [refused]: string[] = await page.evaluate(ROWS);
    assert(!refused.includes("no/such") && refused.includes("\t–\t"), refused);
    await page.click("main tbody a");
    await page.shows("Refused, or no provider accepted it");
    const facts: string = await page.evaluate("document.querySelector('dialog .facts').innerText");
    assertMatch(facts, /Model\s+–/);
    await page.click("dialog header button", "Close");
    await page.until("document.querySelector('dialog') === null");
    assertEquals(
      page.requests.filter((url) => !url.startsWith(gateway.url) && !url.startsWith("data:")),
      [],
    );
    assertEquals(page.mistakes, []);

    await page.fill("input[name=status]", "complete");
    await page.click("button", "Filter");
    await page.shows("Cannot read status: expected one of completed, incomplete, failed, interrupted");
    await assertFine(page, "Live with a filter that is refused");
  },
);

browserTest(
  "the console goes by keyboard alone: past the navigation, through a form, into a dialog and out of it",
  async () => {
    await using gateway = await testGateway({ demo: { api: "demo", url: "" } }, { admin_key: ADMIN });
    await using browser = await startBrowser();
    const page = await browser.page();
    await signIn(page, gateway.url);
    await (await gateway.post("/v1/chat/completions", {
      model: "demo/model",
      messages: [{ role: "user", content: "hi" }],
    })).text();
    await page.open(`${gateway.url}/console#/explore`);
    await page.send("Page.reload");
    await page.until(`document.readyState === "complete" && ${ROWS}.length === 1`);
    await page.press("Tab");
    assertEquals(await page.evaluate("document.activeElement.className"), "skip");
    await page.press("Enter");
    assertEquals(await page.evaluate("document.activeElement.id"), "main");
    const seen: string[] = [];
    for (let i = 0; i < 60 && !seen.at(-1)?.startsWith("row-link"); i++) {
      await page.press("Tab");
      seen.push(
        await page.evaluate(
          "document.activeElement.className + ' ' + document.activeElement.tagName + ' ' + document.activeElement.name + '|' + getComputedStyle(document.activeElement).outlineStyle",
        ),
      );
    }
    assert(seen.at(-1)?.startsWith("row-link"), seen.join(" "));
    assertEquals(seen.filter((one) => one.endsWith("|none")), [], "focus is to be seen everywhere");
    await page.press("Enter");
    await page.until("document.querySelector('dialog[open]')");
    await page.press("Escape");
    await page.until("document.querySelector('dialog') === null");
    assertEquals(page.mistakes, []);
  },
);

browserTest("values that the overview only counts together lead nowhere", async () => {
  await using gateway = await testGateway({ demo: { api: "demo", url: "" } }, { admin_key: ADMIN });
  for (let i = 0; i < 52; i++) {
    const body = { model: "demo/model", messages: [{ role: "user", content: "hello" }] };
    const headers = { authorization: `Bearer ${SECRET}`, "x-svc-tags": `customer=c${i}` };
    await (await gateway.post("/v1/chat/completions", body, { headers })).text();
  }
  await using browser = await startBrowser();
  const page = await browser.page();
  await signIn(page, gateway.url);
  await to(page, "Overview");
  await page.click("main button", "Tag");
  const first = "[...document.querySelectorAll('main tbody tr td:first-child')]";
  await page.until(`${first}.some((cell) => cell.innerText === "(others)")`);
  assertEquals(
    await page.evaluate(
      `${first}.filter((cell) => cell.querySelector("a") === null).map((cell) => cell.innerText)`,
    ),
    ["(others)"],
  );
  assertEquals(page.mistakes, []);
});

browserTest("a sum of usage leads to its own generations, within the same days", async () => {
  await using gateway = await testGateway({ demo: { api: "demo", url: "" } }, { admin_key: ADMIN });
  const body = { model: "demo/model", messages: [{ role: "user", content: "hello" }] };
  for (const customer of ["acme", "(other)"]) {
    const headers = { authorization: `Bearer ${SECRET}`, "x-svc-tags": `customer=${customer}` };
    await (await gateway.post("/v1/chat/completions", body, { headers })).text();
  }
  await using browser = await startBrowser();
  const page = await browser.page();
  await signIn(page, gateway.url);
  const sums = "[...document.querySelectorAll('.pivot tbody th')]";
  const linksBy = async (by: string) => {
    const range = "from=2020-01-01&to=2099-01-01";
    await page.evaluate(`location.hash = "#/explore?view=usage&by=${by}&and=none&measure=cost&${range}"`);
    await page.shows(`Spend by ${by}`);
    return await page.evaluate(
      `${sums}.map((sum) => sum.querySelector("a")?.getAttribute("href") ?? sum.innerText)`,
    );
  };
  const days = "from=2020-01-01T00%3A00%3A00.000Z&to=2099-01-01T00%3A00%3A00.000Z";
  assertEquals(await linksBy("model"), [`#/explore?model=demo%2Fmodel&${days}`]);
  assertEquals((await linksBy("tag:customer")).sort(), [`#/explore?tag=customer%3Dacme&${days}`, "(other)"]);
  await page.click(".pivot tbody a", "acme");
  await page.until(`${ROWS}.length === 1`);
  assertEquals(page.mistakes, []);
});
