/** The pages of the manual in a real browser: readable in both colours, by keyboard, and on a narrow screen. */
import { assertEquals } from "@std/assert";
import { PAGES } from "../../src/manual/pages.ts";
import { browserTest, startBrowser } from "../support/browser.ts";
import { testGateway } from "../support/gateway.ts";

browserTest(
  "every page of the manual is without a finding of axe, and none is wider than its window",
  async () => {
    await using gateway = await testGateway({ demo: { api: "demo", url: "" } });
    await using browser = await startBrowser();
    const page = await browser.page();
    const found: string[] = [];
    for (const { name } of PAGES) {
      await page.open(`${gateway.url}/docs/${name}`);
      for (const [width, colours] of [[1280, "dark"], [390, "light"]] as const) {
        await page.size(width);
        await page.colours(colours);
        found.push(...(await page.axe()).map((finding) => `${name}, ${width} px, ${colours}: ${finding}`));
        const inside: number = await page.evaluate("document.documentElement.scrollWidth");
        if (inside > width) found.push(`${name} is ${inside} px wide in a window of ${width}`);
      }
    }
    assertEquals(found, []);
    assertEquals(page.mistakes, []);
  },
);
