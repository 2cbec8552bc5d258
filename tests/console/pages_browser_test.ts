/** The console's pages for administrators in a real browser: a key made and used, teams, a finding, the playground, breakers. */
import { assert, assertEquals } from "@std/assert";
import OpenAI from "openai";
import { browserTest, startBrowser } from "../support/browser.ts";
import { SECRET, testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";
import { ROWS, signIn, to } from "./pages.ts";
import { ADMIN } from "./rig.ts";

browserTest(
  "a key is made in the console, used with the official client, seen as used, revoked and refused",
  async () => {
    await using gateway = await testGateway({ demo: { api: "demo", url: "" } }, { admin_key: ADMIN });
    await using browser = await startBrowser();
    const page = await browser.page();
    await signIn(page, gateway.url);
    await to(page, "Keys");
    await page.click("button", "New key");
    await page.fill("dialog input[name=name]", "ada");
    await page.fill("dialog input[name=spend_amount]", "2.50");
    await page.click("dialog button", "Create the key");
    const secret: string = await page.until("document.querySelector('.secret code')?.textContent");
    assertEquals(await page.axe(), []);
    await page.click("dialog button", "Close");
    await page.until("document.querySelector('.secret') === null");
    const text = await page.evaluate("document.documentElement.outerHTML");
    assert(!text.includes(secret), "a secret is shown once");

    const client = new OpenAI({ apiKey: secret, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
    const ask = () =>
      client.chat.completions.create({
        model: "demo/model",
        max_tokens: 50,
        messages: [{ role: "user", content: "hi" }],
      });
    assert((await ask()).choices[0].message.content);
    await to(page, "Models");
    await to(page, "Keys");
    await page.until(
      `${ROWS}.some((r) => r.startsWith("ada") && r.includes("$2.50") && !r.includes("never"))`,
    );

    await page.click("a.row-link", "ada");
    await page.until("document.querySelector('dialog .sub table')");
    assertEquals(await page.axe(), []);
    await page.click("dialog button", "Change limits");
    assertEquals(
      await page.until("document.querySelector('dialog input[name=spend_amount]')?.value"),
      "2.50",
    );
    await page.fill("dialog input[name=spend_amount]", "4");
    await page.fill("dialog input[name=models]", "demo/*");
    await page.click("dialog button", "Save");
    await page.until(
      `${ROWS}.some((r) => r.startsWith("ada") && r.includes("$4.00") && r.includes("demo/*"))`,
    );
    await page.click("dialog button", "Create a new secret");
    const next: string = await page.until("document.querySelector('.secret code')?.textContent");
    assert(next !== secret);
    for (const good of [secret, next]) {
      const answer = await fetch(`${gateway.url}/v1/models`, {
        headers: { authorization: `Bearer ${good}` },
      });
      await answer.body?.cancel();
      assertEquals(answer.status, 200, "the one before ends in a day");
    }
    await page.click("dialog button", "Close");
    await page.click("a.row-link", "ada");
    await page.click("dialog button", "Revoke");
    await page.click("dialog .form-end button", "Revoke");
    await page.until(`!${ROWS}.some((r) => r.startsWith("ada"))`);
    const refused = await ask().then(() => null, (error) => error);
    assertEquals(refused?.status, 401);
    assertEquals(page.mistakes, []);
  },
);

browserTest(
  "teams and accounts are made in the console, and a team's limit is seen at its keys",
  async () => {
    await using gateway = await testGateway({ demo: { api: "demo", url: "" } }, { admin_key: ADMIN });
    await using browser = await startBrowser();
    const page = await browser.page();
    await signIn(page, gateway.url);
    await to(page, "Keys");
    await page.click(".choice button", "Accounts");
    await page.click("button", "New account");
    await page.fill("dialog input[name=name]", "acme");
    await page.fill("dialog input[name=credits]", "12.00");
    await page.click("dialog button", "Create the account");
    await page.until(`${ROWS}.some((r) => r.startsWith("acme") && r.includes("$12.00"))`);
    await page.click(".choice button", "Teams");
    await page.click("button", "New team");
    await page.fill("dialog input[name=name]", "red");
    await page.fill("dialog input[name=spend_amount]", "5");
    await page.until(
      "(() => { const s = document.querySelector('dialog select[name=account]'); s.value = 'acme'; return s.value === 'acme'; })()",
    );
    await page.click("dialog button", "Create the team");
    await page.until(
      `${ROWS}.some((r) => r.startsWith("red") && r.includes("$5.00") && r.includes("acme"))`,
    );
    await page.click("button", "Change red");
    await page.fill("dialog input[name=spend_amount]", "7");
    await page.click("dialog button", "Save");
    await page.until(`${ROWS}.some((r) => r.startsWith("red") && r.includes("$7.00"))`);
    await page.click("button", "Remove red");
    await page.click("dialog .form-end button", "Remove");
    await page.shows("No teams yet");
    assertEquals(page.mistakes, []);
  },
);

browserTest(
  "a blocked request is seen among the findings, a text is tried, and nobody's text is in the log",
  async () => {
    await using gateway = await testGateway({ demo: { api: "demo", url: "" } }, {
      admin_key: ADMIN,
      dlp_policies: { cards: { mode: "block", entity_types: ["CREDIT_CARD"] } },
      keys: [{ name: "shop", secret: SECRET, dlp_policy: "cards" }],
    });
    await using browser = await startBrowser();
    const number = "4111 1111 1111 1111";
    const content = `my card is ${number}`;
    const answer = await gateway.post("/v1/chat/completions", {
      model: "demo/model",
      max_tokens: 10,
      messages: [{ role: "user", content }],
    });
    await answer.body?.cancel();
    assertEquals(answer.status, 403);
    const page = await browser.page();
    await signIn(page, gateway.url);
    await to(page, "Policies");
    await page.fill("textarea[name=text]", `😀 ${content}`);
    await page.click("button", "Screen");
    assertEquals(await page.until("document.querySelector('.result mark')?.textContent"), number);
    assertEquals(await page.axe(), []);
    await page.click(".choice button", "Findings");
    await page.until(
      `${ROWS}.some((r) => r.includes("refused") && r.includes("CREDIT_CARD") && r.includes("shop"))`,
    );
    await page.click("main button", "Details");
    await page.until("document.querySelector('dialog .code')");
    assertEquals(await page.axe(), []);
    assert(!(await page.evaluate("document.body.innerText")).includes("4111"));
    assertEquals(page.mistakes, []);
  },
);

browserTest(
  "the playground streams the answers of two models with a key made for it, and sends models no session",
  async () => {
    const sent: { path: string; headers: string }[] = [];
    await using gateway = await testGateway(
      { demo: { api: "demo", url: "" } },
      { admin_key: ADMIN },
      {
        onRequest: ({ url, headers }) =>
          sent.push({ path: new URL(url).pathname, headers: JSON.stringify([...headers]) }),
      },
    );
    await using browser = await startBrowser();
    const page = await browser.page();
    await signIn(page, gateway.url);
    await to(page, "Playground");
    await page.click("button", "Make one for an hour, $1.00");
    await page.until("document.querySelector('.held')");
    await page.fill("input[name=second]", "demo/model");
    const answered =
      "[...document.querySelectorAll('.said')].filter((e) => e.querySelector('.facts')).length";
    for (const format of ["Chat completions", "Messages", "Responses"]) {
      await page.click(".choice button", format);
      await page.fill("textarea[name=prompt]", `Say ${format}`);
      await page.click("form button[type=submit]", "Ask");
      await page.until(
        `${answered} === 2 && [...document.querySelectorAll('.said .text')].every((e) => e.textContent.includes("Say ${format}"))`,
      );
    }
    await page.until(
      "[...document.querySelectorAll('.said')].every((e) => /Cost\\n\\$0/.test(e.innerText))",
    );
    assertEquals(await page.axe(), []);
    await page.click(".choice button", "Raw");
    await page.until("document.querySelector('.code').textContent.includes('response.completed')");
    await page.click(".choice button", "Python");
    await page.until(
      "[...document.querySelectorAll('.code')].some((e) => e.textContent.includes('client.responses.create('))",
    );
    const asked = sent.filter(({ path }) => path.startsWith("/v1/"));
    assert(asked.length >= 6, `${asked.length} calls`);
    for (const { path, headers } of asked) {
      assert(!headers.includes("cookie") && !headers.includes(ADMIN) && headers.includes("sk_live_"), path);
    }
    const secret = /sk_live_\w+/.exec(asked[0].headers)![0];
    assert(!(await page.evaluate("document.documentElement.outerHTML")).includes(secret));
    await page.click(".held button", "Revoke");
    await page.until("document.querySelector('.held') === null");
    const gone = await fetch(`${gateway.url}/v1/models`, {
      headers: { authorization: `Bearer ${secret}` },
    });
    await gone.body?.cancel();
    assertEquals(gone.status, 401);
    assertEquals(page.mistakes, []);
  },
);

browserTest(
  "a long table shows a part of its rows, those out of service first, and the others on demand",
  async () => {
    const provider = loopbackProvider(() => new Response("down", { status: 500 }));
    const names = Array.from({ length: 450 }, (_, i) => `m${i}`);
    const models = names.map((name) => ({ id: `up/${name}`, routes: [{ provider: "up", model: name }] }));
    await using gateway = await testGateway({
      up: { api: "openai-chat", url: `${provider.url}/v1`, more: { breaker: { failures: 1 } } },
    }, { admin_key: ADMIN, models });
    await using browser = await startBrowser();
    const page = await browser.page();
    const body = { model: "up/m449", messages: [{ role: "user", content: "hi" }] };
    for (let i = 0; i < 3; i++) await (await gateway.post("/v1/chat/completions", body)).text();
    await signIn(page, gateway.url);
    await to(page, "Models");
    await page.click(".choice button", "Providers");
    const rows = async (count: number) => await page.until(ROWS, (all: string[]) => all.length === count);
    assert((await rows(200))[0].startsWith("m449"));
    assertEquals(await page.axe(), []);
    for (const count of [400, 450]) {
      await page.click("button", "Show more");
      await rows(count);
    }
    await page.until(
      "![...document.querySelectorAll('main button')].some((b) => b.innerText === 'Show more')",
    );
    assertEquals(page.mistakes, []);
    await provider.close();
  },
);
