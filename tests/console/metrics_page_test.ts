import { assertEquals } from "@std/assert";
import { labelled } from "../../src/console/metrics_page.ts";

Deno.test("labelled() puts a label on every value and on nothing else", () => {
  const page = '# TYPE a gauge\na 4\nb{x="1"} 2.5\nc_bucket{x="}",le="+Inf"} 3\n';
  assertEquals(
    labelled(page, "worker", "2"),
    '# TYPE a gauge\na{worker="2"} 4\nb{x="1",worker="2"} 2.5\nc_bucket{x="}",le="+Inf",worker="2"} 3\n',
  );
});
