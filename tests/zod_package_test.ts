/** `src/schema/zod.js` is the package `zod` as the program uses it. */
import { assert, assertEquals } from "@std/assert";
import * as whole from "zod";
import { z } from "../src/schema/zod.js";
import { PACKAGE, TYPES, usedParts, ZOD } from "../.deploy/zod_package.ts";

Deno.test("the module that a start loads of zod has all that the program uses, of the version that is pinned", async () => {
  const used = usedParts().filter((name) => Object.hasOwn(whole, name) && !TYPES.has(name));
  assert(used.includes("looseObject") && used.includes("toJSONSchema"), used.join(" "));
  const missing = used.filter((name) => !Object.hasOwn(z, name));
  assertEquals(missing, [], "`deno task zod-package` writes the module again");
  assert((await Deno.readTextFile(ZOD)).startsWith(`// @ts-self-types="${PACKAGE}"\n`));
});

Deno.test("the module that a start loads of zod finds the same mistakes as the package, and describes the same", () => {
  const schemas = [whole.z, z].map((z) =>
    z.looseObject({
      name: z.string().min(2).regex(/^a/).describe("a name"),
      count: z.int().min(1).max(9).prefault(3),
      share: z.number().nullable().optional(),
      kinds: z.array(z.enum(["x", "y"])).max(2),
      either: z.union([z.boolean(), z.strictObject({ n: z.number() })]),
      more: z.record(z.string(), z.unknown()).optional(),
    })
  );
  for (
    const value of [
      { name: "ab", kinds: ["x"], either: true, other: 1 },
      { name: "b", count: 1.5, share: "1", kinds: ["x", "z", 3], either: { n: 1, m: 2 }, more: [] },
      [],
      null,
    ]
  ) {
    const [ofPackage, ofModule] = schemas.map((schema) => schema.safeParse(value));
    assertEquals(ofModule.data, ofPackage.data);
    assertEquals(ofModule.error?.issues, ofPackage.error?.issues);
  }
  assertEquals(z.toJSONSchema(schemas[1], { io: "input" }), whole.toJSONSchema(schemas[0], { io: "input" }));
});
