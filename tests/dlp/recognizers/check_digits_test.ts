/** Check digits of documents and accounts: one changed character must undo a finding that rests on them. */
import { assert, assertEquals } from "@std/assert";
import { detector } from "../../../src/dlp/scan.ts";

/** What names the value, the value, and the types that it is. Every place of it but those in `free` is checked. */
const CHECKED: { type: string; lead: string; value: string; free?: number[] }[] = [
  { type: "VIN", lead: "VIN ", value: "1M8GDM9AXKP042788" },
  { type: "ICCID", lead: "ICCID ", value: "8944501234567890124", free: [0, 1, 2] },
  { type: "US_NPI", lead: "NPI ", value: "1245319599", free: [0] },
  { type: "MEDICAL_LICENSE", lead: "DEA ", value: "GL0285191", free: [0, 1] },
  { type: "PL_PASSPORT", lead: "paszport ", value: "ZS0000177", free: [0, 1] },
  { type: "JP_DRIVER_LICENSE", lead: "運転免許証番号：", value: "305012345630", free: [11] },
  { type: "BR_DRIVER_LICENSE", lead: "CNH: ", value: "02650306461" },
  { type: "ES_DRIVER_LICENSE", lead: "permiso de conducir ", value: "54362315K" },
  { type: "CRYPTO", lead: "TRX ", value: "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", free: [0] },
];

for (const { type, lead, value, free = [] } of CHECKED) {
  Deno.test(`${type} is found by its check digit`, () => {
    const found = (text: string) => detector(new Set([type])).scan(lead + text).length;
    assertEquals(found(value), 1, value);
    let caught = 0;
    let changed = 0;
    for (let i = 0; i < value.length; i++) {
      if (free.includes(i)) continue;
      for (const other of /\d/.test(value[i]) ? "0123456789" : "ABCDEFGH") {
        if (other === value[i]) continue;
        changed++;
        if (found(value.slice(0, i) + other + value.slice(i + 1)) === 0) caught++;
      }
    }
    // Sums modulo eleven let letters and digits of one value pass for each other.
    assert(caught / changed > 0.9, `${caught} of ${changed}`);
  });
}
