import { assert, assertEquals } from "@std/assert";
import {
  luhn,
  mod1110,
  mod97,
  modulo,
  repeated,
  validDate,
  verhoeff,
} from "../../../src/dlp/recognizers/checksums.ts";

Deno.test("checksums accept published examples and refuse every change of one digit", () => {
  const cases: [string, (s: string) => boolean][] = [
    ["4111111111111111", luhn],
    ["236", verhoeff],
    ["33392005961", mod1110],
  ];
  for (const [number, check] of cases) {
    assert(check(number), number);
    for (let i = 0; i < number.length; i++) {
      for (let d = 1; d < 10; d++) {
        const changed = number.slice(0, i) + (Number(number[i]) + d) % 10 + number.slice(i + 1);
        assertEquals(check(changed), false, changed);
      }
    }
  }
});

Deno.test("mod97() and modulo() take numbers of any length", () => {
  assertEquals(mod97("WEST12345698765432GB82"), 1);
  assertEquals(modulo("123456789012345678901234567890", 97), Number(123456789012345678901234567890n % 97n));
});

Deno.test("validDate() knows months and leap years", () => {
  assert(validDate(2024, 2, 29) && validDate(0, 2, 29) && validDate(1999, 12, 31));
  assert(
    !validDate(1900, 2, 29) && !validDate(2023, 2, 29) && !validDate(2023, 4, 31) && !validDate(2023, 13, 1),
  );
});

Deno.test("repeated() is about one digit over and over", () => {
  assert(repeated("1111") && !repeated("1112"));
});
