/** What tests of the console in a browser have in common: signing in, going to a page, and that a page is fine. */
import { assertEquals } from "@std/assert";
import type { BrowserPage } from "../support/browser.ts";
import { ADMIN } from "./rig.ts";

/** The text of each row of the page's tables. */
export const ROWS = "[...document.querySelectorAll('main tbody tr')].map((r) => r.innerText)";

export async function signIn(
  page: BrowserPage,
  url: string,
  { secret = ADMIN, width = 1280 } = {},
): Promise<void> {
  await page.size(width);
  await page.open(`${url}/console`);
  await page.fill("input[name=secret]", secret);
  await page.press("Enter");
  await page.until("document.querySelector('nav a')");
}

/** Goes to a page by the navigation, which may be behind a button, and waits until it is there. */
export async function to(page: BrowserPage, title: string): Promise<void> {
  // What lies over the page takes clicks until it is gone.
  await page.until("document.querySelector('dialog') === null");
  const narrow = await page.evaluate("document.querySelector('nav a').offsetParent === null");
  if (narrow) await page.click('button.menu[aria-expanded="false"]');
  await page.click("nav a", title);
  await page.until(`document.querySelector("main h1")?.textContent === ${JSON.stringify(title)}`);
  await page.until("document.querySelector('main .waiting') === null");
}

/** No finding of axe, and nothing that sticks out, at three widths in both colours. */
export async function assertFine(page: BrowserPage, what: string): Promise<void> {
  for (const width of [1280, 800, 390]) {
    await page.size(width);
    for (const colours of ["light", "dark"] as const) {
      await page.colours(colours);
      assertEquals(await page.axe(), [], `${what} at ${width} px, ${colours}`);
    }
    await page.assertFits();
  }
  await page.size(1280);
}
