/** Names as long as they may be, without a place to break at: pages do not scroll sideways, and dialogs keep their buttons. */
import { assertEquals } from "@std/assert";
import { type BrowserPage, browserTest, startBrowser } from "../support/browser.ts";
import { SECRET, testGateway } from "../support/gateway.ts";
import { signIn, to } from "./pages.ts";
import { ADMIN } from "./rig.ts";

const LONG = "W".repeat(128);
const LIMIT = { spend_limit: { amount: "0.00001", period: "month" } };

/** What reaches beyond the window, but for what scrolls by itself. */
const BEYOND = `[...document.querySelectorAll("main *, dialog[open], dialog[open] *")].filter((e) => {
  const { right, width } = e.getBoundingClientRect();
  return width > 0 && right > innerWidth + 1 && !e.parentElement.closest(".table, pre, .code");
}).map((e) => e.tagName + "." + e.className)`;

async function assertInside(page: BrowserPage, what: string): Promise<void> {
  for (const width of [1280, 800, 390, 320]) {
    await page.size(width);
    // Charts are drawn anew in the new width, but not at once.
    await page.until(`${BEYOND}.length === 0`).catch(async () => {
      assertEquals(await page.evaluate(BEYOND), [], `${what} at ${width} px`);
    });
    await page.assertFits();
  }
  await page.size(1280);
}

browserTest("long names stay inside of pages and dialogs", async () => {
  await using gateway = await testGateway({ demo: { api: "demo", url: "" } }, {
    admin_key: ADMIN,
    accounts: [{ name: "default", credits: "5" }, { name: LONG, credits: "1" }],
    teams: [{ name: LONG, ...LIMIT }],
    dlp_policies: {
      [LONG.slice(64)]: { mode: "mask", regexes: [{ name: "R".repeat(64), pattern: "zebra" }] },
    },
    keys: [{ name: LONG, secret: SECRET, team: LONG, dlp_policy: LONG.slice(64), ...LIMIT }],
  });
  await using browser = await startBrowser();
  const tags = `feature=${"v".repeat(64)}, env=${"w".repeat(64)}`;
  const answer = await gateway.post("/v1/chat/completions", {
    model: "demo/model",
    messages: [{ role: "user", content: "zebra" }],
  }, {
    headers: {
      authorization: `Bearer ${SECRET}`,
      "x-svc-tags": tags,
      "x-svc-session": "s".repeat(128),
    },
  });
  assertEquals(answer.status, 200, await answer.text());
  const page = await browser.page();
  await signIn(page, gateway.url);
  for (const title of ["Overview", "Live", "Explore", "Models", "Policies", "Configuration", "Keys"]) {
    await to(page, title);
    await assertInside(page, title);
  }
  await page.evaluate("document.querySelector('main tbody a').click()");
  await page.until("document.querySelector('dialog[open] table')");
  await assertInside(page, "a key");
  await page.click("dialog header button", "Close");
  await to(page, "Explore");
  await page.until("document.querySelector('main tbody a')");
  await page.evaluate("document.querySelector('main tbody a').click()");
  await page.shows("Steps and times");
  await assertInside(page, "a generation");
  assertEquals(page.mistakes, []);
});
