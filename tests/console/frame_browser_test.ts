/** The console's frame in a real browser: the way in, navigation by mouse and keyboard, colours, three widths. */
import { assert, assertEquals } from "@std/assert";
import { browserTest, startBrowser } from "../support/browser.ts";
import { testGateway } from "../support/gateway.ts";

const ADMIN_KEY = "an-admin-key-of-enough-letters";

browserTest(
  "the console in Chromium: signing in, every page at three widths in both colours, signing out",
  async () => {
    await using gateway = await testGateway({ demo: { api: "demo", url: "" } }, { admin_key: ADMIN_KEY });
    await using browser = await startBrowser();
    const page = await browser.page();
    await page.open(`${gateway.url}/console`);
    await page.until("document.title === 'Sign in · Sluice' && document.activeElement.name === 'secret'");
    assertEquals(await page.axe(), []);
    await page.fill("input[name=secret]", ADMIN_KEY);
    await page.press("Enter");
    const titles: string[] = await page.until(
      "(() => { const all = [...document.querySelectorAll('nav a')].map((a) => a.textContent.trim()); return all.length > 0 && all; })()",
    );
    for (const title of titles) {
      await page.size(1280);
      await page.click("nav a", title);
      await page.until(`document.querySelector("main h1")?.textContent === ${JSON.stringify(title)}`);
      await page.until("document.querySelector('main .waiting') === null");
      for (const width of [1280, 800, 390]) {
        await page.size(width);
        for (const colours of ["light", "dark"] as const) {
          await page.colours(colours);
          assertEquals(await page.axe(), [], `${title} at ${width} px, ${colours}`);
        }
        await page.assertFits();
      }
    }
    await page.size(390);
    await page.click("button.menu");
    await page.click("nav a", titles[0]);
    await page.until(
      `document.title.startsWith(${JSON.stringify(titles[0])}) && !document.querySelector(".side.open")`,
    );
    await page.size(1280);
    await page.click(".themes button", "Dark");
    await page.until("document.documentElement.dataset.theme === 'dark'");
    assert(!(await page.evaluate("document.documentElement.outerHTML")).includes(ADMIN_KEY));
    assert(!(await page.evaluate("JSON.stringify(localStorage)")).includes(ADMIN_KEY));
    await page.click("button", "Sign out");
    await page.until("document.querySelector('input[name=secret]')");
    assertEquals(
      page.requests.filter((url) => !url.startsWith(gateway.url) && !url.startsWith("data:")),
      [],
    );
    assertEquals(page.mistakes, []);
  },
);

browserTest("the console links the manual where the gateway serves it", async () => {
  await using browser = await startBrowser();
  for (const docs of [true, false]) {
    await using gateway = await testGateway({ demo: { api: "demo", url: "" } }, {
      admin_key: ADMIN_KEY,
      server: { docs },
    });
    const page = await browser.page();
    await page.open(`${gateway.url}/console`);
    await page.fill("input[name=secret]", ADMIN_KEY);
    await page.press("Enter");
    await page.until("document.querySelector('nav a') && document.querySelector('main h1')");
    const link: string | null = await page.evaluate(
      "document.querySelector('a[href=\"/docs\"]')?.innerText ?? null",
    );
    assertEquals(link, docs ? "Manual" : null);
    const { status } = await fetch(`${gateway.url}/docs`, { method: "HEAD" });
    assertEquals(status, docs ? 200 : 404);
  }
});
